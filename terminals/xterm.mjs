// @xterm/headless: reads bytes in hex, one play a line, and answers with the state as JSON.
// The only argument is the folder in which npm installed it.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { Terminal } = createRequire(`${process.argv[2]}/`)('@xterm/headless');

// As in src/checks.rs.
const NEXT_LINE = '\r\nlqx\tnext>';

const written = (terminal, bytes) => new Promise((done) => terminal.write(bytes, done));

// All that is drawn of a cell.
function cellOf(cell) {
  const colours = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()];
  const flags = [
    cell.isBold(), cell.isDim(), cell.isItalic(), cell.isUnderline(), cell.isBlink(),
    cell.isInverse(), cell.isInvisible(), cell.isStrikethrough(), cell.isOverline(),
  ];
  return [cell.getChars(), cell.getWidth(), ...colours, ...flags.map(Boolean)].join(' ');
}

const cellsOf = (line) => Array.from({ length: 80 }, (_, x) => cellOf(line.getCell(x)));

const textOf = (line) => line.translateToString(true).trimEnd();

async function stateAfter(bytes) {
  const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 20000, allowProposedApi: true });
  const asked = { title: [], clipboard: [], reply: [], palette: [], bell: 0, link: 0 };
  terminal.onTitleChange((title) => asked.title.push(title));
  terminal.onData((reply) => asked.reply.push(reply));
  terminal.onBinary((reply) => asked.reply.push(reply));
  terminal.onBell(() => { asked.bell += 1; });
  // Without a window, the emulator itself does nothing for these.
  const watch = (number, seen) => terminal.parser.registerOscHandler(number, (payload) => {
    seen(payload);
    return false;
  });
  watch(7, (payload) => asked.title.push(payload));
  watch(52, (payload) => asked.clipboard.push(payload));
  watch(8, () => { asked.link += 1; });
  for (const number of [4, 10, 11, 12, 104, 110, 111, 112]) {
    watch(number, (payload) => asked.palette.push(`${number};${payload}`));
  }

  // The modes that can be asked lack this one.
  let showsCursor = true;
  for (const final of 'hl') {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (parameters) => {
      if (parameters.includes(25)) showsCursor = final === 'h';
      return false;
    });
  }

  await written(terminal, bytes);
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, y) => active.getLine(y));
  const cells = lines.flatMap((line) => Array.from({ length: 80 }, (_, x) => line.getCell(x)));
  const state = {
    ...asked,
    cursor: [active.baseY + active.cursorY, active.cursorX],
    text: lines.map(textOf),
    prompt: cellsOf(lines[0]),
    mode: { ...terminal.modes, showsCursor },
    screen: active.type,
    hidden: cells.filter((cell) => cell.isInvisible()).length,
  };
  await written(terminal, NEXT_LINE);
  const { baseY, cursorY } = terminal.buffer.active;
  state.next = cellsOf(terminal.buffer.active.getLine(baseY + cursorY));
  terminal.dispose();
  return state;
}

for await (const line of createInterface({ input: process.stdin })) {
  const state = await stateAfter(Buffer.from(line, 'hex'));
  process.stdout.write(`${JSON.stringify(state)}\n`);
}
