import { describe, expect, it } from 'vitest';
import { Chain } from '../../src/settle/chain.ts';

describe('a chain', () => {
  it('keeps the order of arrival, whatever is removed', () => {
    const chain = new Chain<string>();
    const links = ['a', 'b', 'c', 'd'].map((item) => chain.add(item));
    const [a, b, , d] = links as [(typeof links)[0], (typeof links)[0], unknown, (typeof links)[0]];
    chain.remove(b);
    expect(chain.all()).toEqual(['a', 'c', 'd']);
    chain.remove(a);
    chain.remove(d);
    expect(chain.all()).toEqual(['c']);
    chain.add('e');
    expect(chain.all()).toEqual(['c', 'e']);
    expect(chain.size).toBe(2);
  });

  it('removes a link once', () => {
    const chain = new Chain<number>();
    const one = chain.add(1);
    chain.remove(one);
    chain.add(2);
    chain.remove(one);
    expect(chain.all()).toEqual([2]);
    expect(chain.size).toBe(1);
  });

  it('lets a removed link point nowhere, or it would hold all that came after it', () => {
    const chain = new Chain<number>();
    const links = [1, 2, 3].map((item) => chain.add(item));
    for (const link of links) chain.remove(link);
    expect(links.every(({ before, after }) => before === undefined && after === undefined)).toBe(
      true,
    );
  });
});
