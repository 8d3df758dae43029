import type { CommittedDraws } from '../../src/draws/keeper.ts';

function none(): never {
  throw new Error('nobody commits to a draw here');
}

/** The committedDraws of a world in which nobody commits to a draw. */
export const NO_DRAWS: CommittedDraws = {
  openDraw: none,
  settleDraw: none,
  cancelDraw: none,
  openNonce: none,
};
