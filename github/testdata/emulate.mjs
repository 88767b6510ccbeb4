// Runs the GitHub of npm's emulate on the loopback address:
//
//	node emulate.mjs MODULE ADDRESS, with the seed as JSON in EMULATE_SEED
import { pathToFileURL } from 'node:url';

const [module, address] = process.argv.slice(2);
const { createEmulator } = await import(pathToFileURL(module));
const [hostname, port] = address.split(':');
const seed = JSON.parse(process.env.EMULATE_SEED);
await createEmulator({ service: 'github', hostname, port: Number(port), baseUrl: `http://${address}`, seed });
