// What the code of viewers makes of an export, for readers_test.py: node readers.js dhat DH_VIEW_JS FILE, or
// node readers.js flamegraph FILE. Prints it as JSON.
'use strict';
const fs = require('fs');
const vm = require('vm');

// Runs the code of a page in which there is nothing to draw on, then `question`.
function ask(code, globals, question) {
  const context = vm.createContext(globals);
  vm.runInContext(code + ';globalThis.answer = (' + question + ')()', context);
  return context.answer;
}

function dhat(viewer, file) {
  return ask(fs.readFileSync(viewer, 'utf8'), {console, window: {}, document: {}, text: fs.readFileSync(file, 'utf8')}, `() => {
    gData = JSON.parse(text);
    gSelect = {selectedIndex: 0, childNodes: gSelectData.map(() => ({}))};
    buildTree();
    return {allocatedBytes: gRoot._totalBytes, allocatedBlocks: gRoot._totalBlocks, endBytes: gRoot._atTEndBytes,
            endBlocks: gRoot._atTEndBlocks};
  }`);
}

function flamegraph(file) {
  const page = fs.readFileSync(file, 'utf8');
  const [data, code] = [...page.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map((found) => found[1]);
  return ask(code, {data: JSON.parse(data)}, `() => {
    const tree = readTree(data);
    // Boxes by themselves say what is in them; those below must add up to that.
    const valueOf = (box) => {
      const below = box.kids.reduce((sum, kid) => sum + valueOf(kid), 0);
      if (below > box.value) throw new Error(box.name + ': more below than in it');
      return box.value;
    };
    const roots = (inverted) => data.metrics.map((_, metric) => {
      const root = rootBox(tree, metric, inverted);
      valueOf(root);
      return root.kids.reduce((sum, kid) => sum + kid.value, 0);
    });
    const placed = layOut(rootBox(tree, 0, false), 1000, 0.4);
    if (placed.some(({x, width}) => x < -1e-6 || x + width > 1000 + 1e-6)) throw new Error('a box is outside');
    return {down: roots(false), up: roots(true), matchesAll: matchedValue(tree, 0, /./),
            matchesNone: matchedValue(tree, 0, /no such name anywhere/)};
  }`);
}

const [kind, ...files] = process.argv.slice(2);
console.log(JSON.stringify(kind === 'dhat' ? dhat(...files) : flamegraph(...files)));
