import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { html, Markup } from '../../../src/http/pages/layout.ts';
import { anyCharacter } from '../../support/any-character.ts';

describe('html', () => {
  it('escapes its input in every position', () => {
    const evil = `<b a="1" b='2'>&`;
    const escaped = '&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;';
    assert.equal(html`<p title="${evil}">${evil}</p>`.text, `<p title="${escaped}">${escaped}</p>`);
    assert.equal(html`${[evil, [evil]]}`.text, escaped + escaped);
  });

  it('does not escape its own output', () => {
    assert.equal(html`<p>${html`<b>${'&'}</b>`}</p>`.text, '<p><b>&amp;</b></p>');
    assert.equal(html`${[html`<i>`, html`</i>`]}`.text, '<i></i>');
    assert.equal(html`${new Markup('<hr>')}`.text, '<hr>');
  });

  it('prints numbers, and nothing for null', () => {
    assert.equal(html`${0} ${1.5} ${null}.`.text, '0 1.5 .');
  });

  it('escapes any text so that it reads back unchanged and has no character with a meaning in HTML (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const escaped = html`${text}`.text;
        assert.ok(!/[<>"']/.test(escaped));
        const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" } as Record<string, string>;
        assert.equal(
          escaped.replaceAll(/&(#?\w+);/g, (_, name) => entities[name]),
          text,
        );
      }),
    );
  });
});
