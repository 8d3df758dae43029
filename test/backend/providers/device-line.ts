import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';

/** A pseudo-terminal needs a program that holds its other side; util-linux's script is on every Debian. */
export const NO_LINE: string | false =
  process.platform === 'linux' && spawnSync('sh', ['-c', 'script --version']).status === 0
    ? false
    : "needs Linux and util-linux's script";

/** A serial line in its usual mode; what is sent into it comes out at `path`. */
export class SerialLine {
  readonly path: string;
  readonly #script: ChildProcess;

  private constructor(path: string, script: ChildProcess) {
    this.path = path;
    this.#script = script;
  }

  static async open(t: TestContext): Promise<SerialLine> {
    const script = spawn('sh', ['-c', "exec script -qec 'tty; exec sleep 600' /dev/null"], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    t.after(() => script.kill('SIGKILL'));
    let said = '';
    while (!said.includes('\n')) {
      const [piece] = await once(script.stdout, 'data');
      said += String(piece);
    }
    script.stdout.resume();
    return new SerialLine(said.trim(), script);
  }

  /** Resolves when somebody has put the line into raw mode: what is sent before that is changed on its way. */
  async becomesRaw(): Promise<void> {
    for (;;) {
      const { stdout } = spawnSync('stty', ['-F', this.path, '-a'], { encoding: 'utf8' });
      if (stdout.includes('-icanon')) return;
      await new Promise((resume) => setTimeout(resume, 10));
    }
  }

  send(bytes: Uint8Array): void {
    this.#script.stdin?.write(bytes);
  }

  /** The other side goes away. */
  async unplug(): Promise<void> {
    this.#script.kill('SIGKILL');
    await once(this.#script, 'exit');
  }
}
