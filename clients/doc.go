// Package clients runs published client libraries, unmodified, against running nodes.
//
// Most are JavaScript programs in the folders beside this file, installed by setup.sh at
// fixed versions; go-redis is used from Go. Command tests and acceptance runs call the
// functions of this package; docs/clients.md lists what was tried.
//
// The folder world is a package of our own, a World for Vercel's Workflow SDK, with its tests;
// docs/world.md describes it.
package clients
