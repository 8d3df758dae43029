import { systemClock } from '../../src/core/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { IbmServer } from '../support/providers/ibm.ts';
import { readProgram } from '../support/providers/ibm-program.ts';
import type { Environment } from '../support/server.ts';
import { type GivenFor, type GivenRead, sha256Hex } from './certified-read.ts';

/** When the device of the local IBM says that it was calibrated. */
const CALIBRATED = '2026-11-20T06:00:00-05:00';

/** IBM at the same hour as the service, which asks it over HTTP. */
export function localIbm(): IbmServer {
  return new IbmServer(new ManualClock(systemClock.wallMs()));
}

/** What an operator sets, the service on the network being the local one. */
export function ibmEnvironment(ibm: IbmServer, options: Environment): Environment {
  return {
    QRN_BACKEND: 'ibm',
    QRN_SOURCE_IBM_API_KEY: ibm.apiKey,
    QRN_SOURCE_IBM_CRN: ibm.crn,
    QRN_SOURCE_IBM_DEVICE: ibm.device.name,
    QRN_SOURCE_IBM_API_URL: `${ibm.url}/api/v1`,
    QRN_SOURCE_IBM_IAM_URL: ibm.url,
    ...options,
  };
}

/** What the certificate must say besides of the circuit that was submitted. */
interface CircuitFacts {
  readonly circuit: string;
  readonly evidence: GivenRead['evidence'];
}

/** The read of the only job that IBM was given, if its results have that hash. */
export function ibmRead(ibm: IbmServer, facts: CircuitFacts): GivenFor {
  const submissions = ibm.requests.filter(({ method, path }) => method === 'POST' && path === '/api/v1/jobs');
  const { params } = JSON.parse(submissions[0].body) as {
    params: { pubs: readonly (readonly [string, null, number])[] };
  };
  const [[program, , shots]] = params.pubs;
  const { measured } = readProgram(program, ibm.device);
  const readout = measured.map((qubit) => ibm.device.table[qubit]);
  return (rawSha256) => {
    if (!ibm.sent.some((body) => sha256Hex(body) === rawSha256)) return undefined;
    return {
      source: 'ibm',
      origin: 'quantum-processor',
      quantumBackend: ibm.device.name,
      provider: 'IBM Quantum',
      device: ibm.device.name,
      jobId: idOfJob(ibm),
      circuit: facts.circuit,
      circuitVersion: '1.0.0',
      circuitSha256: sha256Hex(program),
      qubits: measured.length,
      depth: 2,
      shots,
      calibration: {
        id: 'cal-1',
        date: CALIBRATED,
        qubits: measured,
        readout_e01: readout.map(({ e01 }) => e01),
        readout_e10: readout.map(({ e10 }) => e10),
      },
      evidence: facts.evidence,
    };
  };
}

/** The job is gone from IBM once its lot is stored: it is named in what IBM answered. */
function idOfJob(ibm: IbmServer): string {
  const answers = ibm.sent.map(
    (body) => JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>,
  );
  return String(answers.find((answer) => 'calibration_id' in answer)?.['id']);
}
