package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/internal/timerslack"
)

// timerSlack bounds the delay that the kernel may add to a server's timers. More would save little; see internal/timerslack.
const timerSlack = 500 * time.Microsecond

func main() {
	if len(os.Args) > 1 && slices.Contains([]string{"serve", "dev", "local-cluster"}, os.Args[1]) {
		_ = timerslack.Raise(timerSlack) // without it a server needs more processor time, and nothing else
	}
	os.Exit(run(hideSecrets(os.Args[1:])))
}

// run executes a command line and returns its exit code.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(twoDashes(root, args))
	err := root.Execute()
	if err == nil {
		return cli.ExitDone
	}
	// A line for people and scripts alike: whatever a library wraps into several
	// lines is folded.
	fmt.Fprintln(os.Stderr, "trireme: "+strings.Join(strings.Fields(err.Error()), " "))
	return cli.ExitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "trireme",
		Short:         "A replicated, Redis-compatible data store with message delivery and durable workflows",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionLine(),
		Args:          cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return cli.Usagef("a subcommand is required, such as dev")
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(devCommand(), serveCommand(), localCommand(), backupCommand(), restoreCommand(), importCommand(), exportCommand(), doctorCommand(), downgradeCommand(), versionCommand())
	root.AddCommand(cli.Commands()...)
	cli.AddHints(root)
	order(root)
	return root
}

// twoDashes rewrites the one-dash long flags of dev (`-port=8080`), which people
// know from other development servers, into the form the parser takes.
func twoDashes(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "dev" {
		return args
	}
	out := make([]string, 0, len(args))
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, longFlag(cmd.Flags(), arg))
	}
	return out
}

func longFlag(flags *pflag.FlagSet, arg string) string {
	name, one := strings.CutPrefix(arg, "-")
	name, _, _ = strings.Cut(name, "=")
	if one && len(name) > 1 && flags.Lookup(name) != nil {
		return "-" + arg
	}
	return arg
}

// untilInterrupt returns a context that ends when the process is to stop.
func untilInterrupt(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}
