// The server as a real process: MATHAMR is the command that runs it ("python -m mathamr"), VAULT a folder of notes.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** A command that behaves like `mathamr`: its server ends late, and its watcher does as it is told. */
function program(watcher: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "mathamr-")), "program.cjs");
  const server = `console.log("http://127.0.0.1:" + process.pid); process.on("SIGTERM", () => setTimeout(() => process.exit(1), 300));`;
  const script = `if (process.argv[2] === "serve") { ${server} } else { ${watcher} } setInterval(() => {}, 1000);`;
  writeFileSync(path, script);
  return `"${process.execPath}" "${path}"`;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const isAlive = (address: string): boolean => {
  try {
    return process.kill(Number(address.split(":").at(-1)), 0);
  } catch {
    return false;
  }
};

test("a server that is started right after a stop lives on when the old one ends", { timeout: 30_000 }, async () => {
  const server = new Server(() => undefined);
  const command = program("");
  await server.start(command, "vault", 0, false);
  const old = server.address;
  server.stop();
  await server.start(command, "vault", 0, false);
  assert.ok(!isAlive(old), "the old server still holds the port");
  assert.equal(server.state, "running", server.message);
  assert.ok(isAlive(server.address));
  server.stop();
});

test("a stop while the server starts is final", { timeout: 30_000 }, async () => {
  const server = new Server(() => undefined);
  const starting = server.start(program(""), "vault", 0, false);
  server.stop();
  await starting;
  assert.equal(server.state, "stopped");
});

test("a watcher that has ended is told", { timeout: 30_000 }, async () => {
  const server = new Server(() => undefined);
  await server.start(program(`console.error("mathamr: the disk is full"); process.exit(1)`), "vault", 0, true);
  await until(() => server.message !== "");
  assert.equal(server.state, "running");
  assert.match(server.message, /watcher has ended \(the disk is full\)/);
  server.stop();
});

test("a watcher that writes much does not stop", { timeout: 30_000 }, async () => {
  const done = join(mkdtempSync(join(tmpdir(), "mathamr-")), "done");
  const much = `const fs = require("fs"); fs.writeSync(1, "x".repeat(1 << 20)); fs.writeSync(2, "x".repeat(1 << 20)); fs.writeFileSync(${JSON.stringify(done)}, "");`;
  const server = new Server(() => undefined);
  await server.start(program(much), "vault", 0, true);
  await until(() => existsSync(done));
  server.stop();
});

test("what a server complained about is shown", { skip }, async () => {
  const server = new Server(() => undefined);
  await server.start(MATHAMR ?? "", "/nowhere/at/all", 0, false);
  assert.equal(server.state, "failed");
  assert.match(server.message, /nowhere/);
});
