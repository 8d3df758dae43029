import type { TestContext } from 'node:test';
import { type IbmBackend, ibmBackend } from '../../src/backend/ibm/ibm.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { IbmServer } from '../support/providers/ibm.ts';
import { packed } from '../support/shots.ts';
import { MemoryNotes, type optionValues, sourceOf } from '../support/source-parts.ts';
import type { JobSubject, Sent } from './backend-contract.ts';

type Texts = Parameters<typeof optionValues<typeof ibmBackend.options>>[1];

/** A source, IBM, and what stands between them. */
export class IbmSubject implements JobSubject {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 21));
  readonly memory = new MemoryNotes();
  readonly server = new IbmServer(this.clock);
  readonly bits = 3_000;
  readonly otherDevice = { device: 'ibm_other' };
  readonly #texts: Texts;
  #backend: IbmBackend | undefined;

  constructor(texts: Texts = {}) {
    this.#texts = texts;
  }

  static async start(t: TestContext, texts: Texts = {}): Promise<IbmSubject> {
    const subject = new IbmSubject(texts);
    await subject.server.start(t);
    return subject;
  }

  get backend(): IbmBackend {
    this.#backend ??= this.restarted();
    return this.#backend;
  }

  get secrets(): readonly string[] {
    return [this.server.apiKey, ...this.server.tokens.keys()];
  }

  /** The same source after a restart of the service, where `others` are changed options. */
  restarted(others: Texts = {}): IbmBackend {
    const { url, apiKey, crn, device } = this.server;
    const urls = { api_url: `${url}/api/v1`, iam_url: url };
    const texts = { api_key: apiKey, crn, device: device.name, ...urls, ...this.#texts, ...others };
    const { clock, memory } = this;
    return sourceOf('job', ibmBackend, texts, { name: 'ibm', clock, memory }) as IbmBackend;
  }

  /** Returns the results of the last job, and the raw bits of its only PUB. */
  sent(): Sent {
    const { pubs } = this.server.jobs.at(-1)!;
    const results = this.server.sent.filter(
      (body) => body.includes('"results"') || body.includes('pub_results'),
    );
    return { verbatim: results.slice(-1), bits: packed(pubs[0].rows) };
  }

  calls(): number {
    return this.server.requests.length;
  }

  stall(): Promise<void> {
    return this.server.inject('stall');
  }

  jobsStarted(): number {
    return this.server.jobs.length;
  }

  finishJobs(): void {
    this.server.finishJobs();
  }
}
