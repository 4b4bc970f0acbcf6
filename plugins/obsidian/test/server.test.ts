// The server as a real process: MATHAMR is the command that runs it ("python -m mathamr"), VAULT a folder of notes.

import assert from "node:assert/strict";
import test from "node:test";
import { Client, type Request } from "../src/api";
import { Server, words } from "../src/server";

const { MATHAMR, VAULT } = process.env;
const skip = MATHAMR && VAULT ? false : "needs MATHAMR (a command) and VAULT (a folder of notes)";

const request: Request = async ({ url, method, contentType, body }) => {
  const answer = await fetch(url, { method, body, headers: contentType ? { "Content-Type": contentType } : {} });
  return { status: answer.status, text: await answer.text() };
};

test("the server starts, answers and stops", { skip }, async () => {
  const states: string[] = [];
  const server = new Server(() => states.push(server.state));
  await server.start(MATHAMR ?? "", VAULT ?? "", 0, false);
  assert.equal(server.state, "running", server.message);
  const client = new Client(request, server.address);
  assert.ok((await client.about()).posts > 0);
  server.stop();
  assert.deepEqual(states, ["starting", "running", "stopped"]);
});

test("a path with spaces stands in quotation marks", () => {
  assert.deepEqual(words('"/my things/mathamr" -v'), ["/my things/mathamr", "-v"]);
  assert.deepEqual(words("python -m mathamr"), ["python", "-m", "mathamr"]);
});

test("a command that is not there is said", async () => {
  const server = new Server(() => undefined);
  await Promise.race([
    server.start("/nowhere/mathamr", "/nowhere", 0, false),
    new Promise((resolve) => setTimeout(resolve, 3000)),
  ]);
  assert.equal(server.state, "failed");
  assert.match(server.message, /cannot be started/);
});

test("what a server complained about is shown", { skip }, async () => {
  const server = new Server(() => undefined);
  await server.start(MATHAMR ?? "", "/nowhere/at/all", 0, false);
  assert.equal(server.state, "failed");
  assert.match(server.message, /nowhere/);
});
