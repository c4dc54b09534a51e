// Frame after frame comes out as if each were rendered by itself.
import { expect, it } from 'vitest';
import { FrameRenderer, renderLines } from '../../../src/dashboard/frames.tsx';
import { VIEWS } from '../../../src/dashboard/state.ts';
import { frameLines } from '../../../src/dashboard/views/frame.ts';
import { calmState, troubledState } from './states.ts';

it('renders what changed and keeps what did not', () => {
  const renderer = new FrameRenderer();
  for (const columns of [80, 120]) {
    for (const view of VIEWS) {
      for (const state of [
        calmState({ view, columns }),
        calmState({ view, columns, nowMs: 9_000 }),
        troubledState({ view, columns }),
      ]) {
        const lines = frameLines(state);
        expect(renderer.render(lines, columns)).toEqual(renderLines(lines, columns));
      }
    }
  }
});

it('does not mix lines up that stand twice in a frame', () => {
  const renderer = new FrameRenderer();
  const frame = (...texts: string[]) =>
    renderer.render(
      texts.map((text) => [{ text }]),
      10,
    );
  expect(frame('a', 'b', 'a')).toEqual(['a', 'b', 'a']);
  expect(frame('b', 'a', 'c', 'b', 'c')).toEqual(['b', 'a', 'c', 'b', 'c']);
});
