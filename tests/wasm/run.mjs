// Sessions in WebAssembly: two instances, each in a worker, over a ring in shared memory.
// node run.mjs FOLDER, where FOLDER holds the module and its JavaScript.

import assert from 'node:assert/strict';
import { createCipheriv, randomBytes, webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

const NAME = 'duologue_wasm_tests';
const BLOCK = 16; // bytes of a lane
const SHARED = 64 + 2 * 2 ** 20; // bytes of a ring: see ring.rs
const MOST = 2 ** 20; // bytes of the module, compressed

function party() {
  globalThis.crypto ??= webcrypto; // Node 18
  const { encrypt } = createRequire(import.meta.url)(`${workerData}/${NAME}.js`);
  parentPort.on('message', ({ shared, party, scheme, input }) => {
    let answer;
    try {
      answer = { output: encrypt(shared, party, scheme, input) };
    } catch (error) {
      answer = { error: error.message };
    }
    parentPort.postMessage(answer);
  });
}

// One session of both parties, who say which protocol they run.
function session(workers, schemes, inputs) {
  const shared = new SharedArrayBuffer(SHARED);
  const answers = workers.map((worker, i) => new Promise((answer, fail) => {
    worker.once('message', answer);
    worker.once('error', fail);
    worker.postMessage({ shared, party: ['alice', 'bob'][i], scheme: schemes[i], input: inputs[i] });
  }));
  return Promise.all(answers);
}

// AES-128 by Node's own library, lane by lane.
function expected(keys, texts) {
  const lane = (bytes, i) => bytes.subarray(BLOCK * i, BLOCK * (i + 1));
  const encrypt = (_, i) => createCipheriv('aes-128-ecb', lane(keys, i), null).update(lane(texts, i));
  return Buffer.concat(Array.from({ length: keys.length / BLOCK }, encrypt));
}

async function agree(workers, scheme, lanes) {
  const [keys, texts] = [randomBytes(BLOCK * lanes), randomBytes(BLOCK * lanes)];
  const start = performance.now();
  const answers = await session(workers, [scheme, scheme], [keys, texts]);
  for (const answer of answers) {
    assert.equal(answer.error, undefined, scheme);
    assert.deepEqual(Buffer.from(answer.output), expected(keys, texts), scheme);
  }
  console.log(`${scheme}: ${lanes} lanes of AES-128 in ${((performance.now() - start) / 1e3).toFixed(1)} s, as Node's own`);
}

async function disagree(workers, [schemes, inputs], [alices, bobs]) {
  const [alice, bob] = await session(workers, schemes, inputs);
  assert.match(alice.error ?? 'no error', alices);
  assert.match(bob.error ?? 'no error', bobs);
}

async function main(folder) {
  const size = gzipSync(readFileSync(`${folder}/${NAME}_bg.wasm`)).length;
  console.log(`the module has ${size} bytes, compressed`);
  assert(size <= MOST, `the module may have ${MOST}`);
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { workerData: folder }));
  for (const [scheme, lanes] of [['yao', 65], ['gmw', 9], ['gmw-masked', 9]]) await agree(workers, scheme, lanes);
  // Errors are errors at both, and the instances go on.
  const block = randomBytes(BLOCK);
  await disagree(workers, [['yao', 'gmw'], [block, block]], [/do not agree.*yao.*gmw/, /do not agree.*gmw.*yao/]);
  await disagree(workers, [['yao', 'none'], [block, block]], [/the peer stopped/, /no protocol is called 'none'/]);
  await agree(workers, 'yao', 1);
  await Promise.all(workers.map((worker) => worker.terminate()));
}

if (isMainThread) await main(resolve(process.argv[2]));
else party();
