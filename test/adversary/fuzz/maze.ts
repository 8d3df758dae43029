import type { FuzzTarget } from './targets/target.ts';

/** Three bytes in a row, each behind the one before it: chance needs 2^24 tries, who sees how far each input came some thousands. */
export const MAZE: FuzzTarget = {
  name: 'maze',
  words: [],
  read: (input) => {
    if (input[0] === 0x71) {
      if (input[1] === 0xb2) {
        if (input[2] === 0x6e) throw new Error('the way out');
      }
    }
    return 'lost';
  },
};
