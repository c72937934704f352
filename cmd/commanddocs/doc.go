// Command commanddocs writes the command reference, one page a family, from the
// command table. Usage: commanddocs [folder], by default docs/commands.
package main
