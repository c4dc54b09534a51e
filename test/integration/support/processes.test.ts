import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { runCli, spawnCli } from '../../support/processes.ts';

describe('runCli', () => {
  it('gives the exit code and both streams apart', async () => {
    const version = await runCli(['--version']);
    expect(version).toEqual({
      code: 0,
      signal: null,
      stdout: expect.stringMatching(/^cardpoll \d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    const wrong = await runCli(['no-such-command']);
    expect(wrong.code).toBe(64);
    expect(wrong.stdout).toBe('');
    expect(wrong.stderr).not.toBe('');
  });

  it('hides the variables of the caller and sets those of the test', async () => {
    process.env.CARDPOLL_URL = 'not a url';
    expect((await runCli(['--version'])).code).toBe(0);
    delete process.env.CARDPOLL_URL;
    const { stderr } = await runCli(['stats'], { env: { CARDPOLL_URL: 'http://127.0.0.1:1' } });
    expect(stderr).toContain('127.0.0.1:1');
  });

  it('kills and reports a command that does not end', async () => {
    const running = runCli(['gateway', 'simulate', '--listen', '127.0.0.1:0'], { timeoutMs: 1_500 });
    await expect(running).rejects.toThrow(/gateway simulate .* ran longer than 1500 ms/);
  });
});

describe('spawnCli', () => {
  it('waits for a line of a running command and stops it', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const simulator = spawnCli(['gateway', 'simulate', '--listen', address]);
    expect(await simulator.waitForLine(/simulated gateway/)).toContain(address);
    expect(simulator.running).toBe(true);
    expect((await simulator.stop()).stderr).toContain(address);
    expect(simulator.running).toBe(false);
  });

  it('shows the output of a command that ended without the line', async () => {
    const daemon = spawnCli(['daemon']); // no gateway URL
    await expect(daemon.waitForLine(/never printed/)).rejects.toThrow(
      /cardpoll daemon ended without printing \/never printed\/\n.*stderr: .*gateway/s,
    );
    expect((await daemon.ended()).code).toBe(78);
  });
});
