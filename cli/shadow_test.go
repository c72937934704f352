package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestNoFlagHidesAnother: a command has no flag of its own by the name of one that its group shares, such as --url of the node: it would
// take the words meant for that.
func TestNoFlagHidesAnother(t *testing.T) {
	var visit func(c *cobra.Command, shared []*pflag.FlagSet)
	visit = func(c *cobra.Command, shared []*pflag.FlagSet) {
		own := c.PersistentFlags()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, s := range shared {
				if s.Lookup(f.Name) != nil && s.Lookup(f.Name) != f {
					t.Errorf("%s: --%s hides the flag of that name that its group shares", c.CommandPath(), f.Name)
				}
			}
		})
		for _, sub := range c.Commands() {
			visit(sub, append(shared[:len(shared):len(shared)], own))
		}
	}
	commands := Commands()
	for _, c := range commands {
		visit(c, nil)
	}
	if len(commands) == 0 {
		t.Fatal("there are no commands")
	}
}
