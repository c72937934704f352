// Package deploy has no code: its tests look at the files for packagers and operators, as
// far as that can be done without the programs that read them.
package deploy
