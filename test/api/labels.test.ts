import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { unpack } from 'msgpackr';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { fetchWhole } from '../support/http.ts';
import { bearer, failedChecks, loggedCertificate, refusalOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

/** Labels that callers give their answers: purpose, user data and serials, of the real service. */
let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

interface Body {
  label?: Record<string, unknown>;
  metadata: { certificate_id: string };
}

interface List {
  series: { id: string; count: number }[];
  draws: { serial: number; certificate_id: string | null }[];
  next: number | null;
}

async function listOf(purpose: string, more = ''): Promise<List> {
  const response = await fetchWhole(`${server.baseUrl}/draws?purpose=${encodeURIComponent(purpose)}${more}`);
  assert.equal(response.status, 200);
  return (await response.json()) as List;
}

describe('labels of answers', () => {
  it('binds purpose and user data in every form, and numbers the answers of the purpose', async () => {
    const purpose = 'raffle "ä" & more';
    const query = `purpose=${encodeURIComponent(purpose)}&user_data=${encodeURIComponent('line\n2')}`;
    const shown = (await (await server.get(`/integers?${query}&public=true`)).json()) as Body;
    const hidden = (await (await server.get(`/bytes?${query}`)).json()) as Body;
    const inBody = { type: 'uuid', count: 2, purpose, user_data_sha256: 'ab'.repeat(32), public: true };
    const batch = (await (await server.batch(inBody)).json()) as Body;
    const packed = await server.get(`/uuid?${query}`, { accept: 'application/msgpack' });
    const msgpack = unpack(new Uint8Array(await packed.arrayBuffer())) as Body;
    const bare = await server.get(`/floats?${query}&public=1&format=csv`);
    await bare.arrayBuffer();
    const stream = await (await server.get(`/stream?type=bytes&total=4&block=2&${query}`)).text();
    const blocks = stream.split('\n').slice(0, 2);
    const ids = [shown, hidden, batch, msgpack].map((each) => each.metadata.certificate_id);
    ids.push(bare.headers.get('x-certificate-id') ?? '');
    ids.push(...blocks.map((block) => (JSON.parse(block) as Body).metadata.certificate_id));
    const documents = await Promise.all(ids.map((id) => loggedCertificate(server, id)));
    const serials = documents.map(({ certificate }) => certificate.label?.serial);
    assert.deepEqual([...serials].sort(), [1, 2, 3, 4, 5, 6, 7]);
    assert.equal(documents[0].certificate.label?.purpose, purpose);
    assert.equal(documents[0].certificate.label?.user_data, 'line\n2');
    assert.deepEqual(Object.keys(documents[1].certificate.label ?? {}).sort(), [
      'public',
      'purpose_commitment',
      'serial',
      'series',
      'user_data_commitment',
    ]);
    assert.equal(documents[2].certificate.label?.user_data_sha256, `sha256:${'ab'.repeat(32)}`);
    assert.doesNotMatch(JSON.stringify(documents[1]), /raffle|line/);
    const keys = await server.keys();
    const answers = [shown, hidden, batch, msgpack, undefined, ...blocks.map((each) => JSON.parse(each))];
    for (const [i, certificate] of documents.entries()) {
      const found = await verifyAnswer({ response: answers[i], certificate, keys });
      assert.deepEqual(failedChecks(found), [], `answer ${i}`);
      assert.ok(found.checks.some(({ name }) => name === 'label'));
    }

    const list = await listOf(purpose);
    assert.deepEqual(list.series, [{ id: shown.label?.['series'] as string, count: 7 }]);
    const isPublic = [true, false, true, false, true, false, false];
    for (const { serial, certificate_id } of list.draws) {
      const at = serials.indexOf(serial);
      assert.equal(certificate_id, isPublic[at] ? ids[at] : null);
    }
    assert.equal(list.draws.length, 7);
    const page = await (await fetchWhole(`${server.origin}/verify/${ids[0]}`)).text();
    assert.match(page, /raffle &quot;ä&quot; &amp; more/);
  });

  it('keeps the series of two accounts apart, and shows nothing of a private purpose', async () => {
    const { key } = await server.account('pro');
    const ours = (await (await server.get('/uuid?purpose=two&public=true')).json()) as Body;
    const theirs = (await (await server.get('/uuid?purpose=two&public=true', bearer(key))).json()) as Body;
    assert.notEqual(ours.label?.['series'], theirs.label?.['series']);
    const { series } = await listOf('two');
    assert.deepEqual(
      series.map(({ count }) => count),
      [1, 1],
    );
    const { draws } = await listOf('two', `&series=${theirs.label?.['series']}`);
    assert.deepEqual(
      draws.map(({ certificate_id }) => certificate_id),
      [theirs.metadata.certificate_id],
    );
    await (await server.get('/uuid?purpose=quiet')).arrayBuffer();
    assert.deepEqual(await listOf('quiet'), { purpose: 'quiet', series: [], draws: [], next: null });
  });

  it('refuses an invalid label with a code of its own, and numbers nothing', async () => {
    const both = `purpose=refused&user_data=x&user_data_sha256=${'0'.repeat(64)}`;
    for (const [query, code] of [
      [both, 'invalid_user_data'],
      ['purpose=refused&public=true&count=0', 'invalid_count'],
    ]) {
      assert.equal(await refusalOf(server.get(`/uuid?${query}`)), `400 ${code}`, query);
    }
    const quote = await server.get('/uuid?purpose=refused&public=true&dry_run=true');
    assert.equal(quote.status, 200);
    assert.deepEqual((await listOf('refused')).series, []);
    assert.equal(await refusalOf(fetchWhole(`${server.baseUrl}/draws`)), '400 invalid_purpose');
    const odd = fetchWhole(`${server.baseUrl}/draws?purpose=refused&series=1`);
    assert.equal(await refusalOf(odd), '400 invalid_series');
  });
});
