// Loaded before a command, by any version of Node: an older one cannot even parse the commands, and would say so in its own words.

const NEEDED = [24, 9];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(
    `This is Node.js ${process.versions.node}, but the project needs ${NEEDED.join('.')} or later. \`npm ci\` installs one for the project, ` +
      'unless install scripts are blocked. Run `npm rebuild node --ignore-scripts=false`, or use a newer Node.js.',
  );
  process.exit(1);
}
