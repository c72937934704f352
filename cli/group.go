package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// options are the flags that all commands of a group share.
type options struct {
	Connection
	output
}

// A group is a command whose subcommands ask a node.
type group struct {
	*cobra.Command
	options
	scope scope
}

// scope says what the requests of a group are about.
type scope int

const (
	ofDatabase scope = iota // one database: --database counts
	ofCluster
)

// newGroup makes a group with the flags of the connection.
func newGroup(s scope, use, short string, aliases ...string) *group {
	g := &group{scope: s}
	g.Command = &cobra.Command{
		Use: use, Short: short, Aliases: aliases, Args: UsageArgs(cobra.NoArgs),
		RunE: requireSubcommand,
	}
	g.share(g.PersistentFlags())
	g.completeShared(g.Command)
	return g
}

// newCommand makes a command that is a group of its own.
func newCommand(g *group, n spec) *cobra.Command {
	g.Command = &cobra.Command{}
	g.share(g.Command.Flags())
	g.completeShared(g.Command)
	g.fill(g.Command, n)
	return g.Command
}

// requireSubcommand runs a command that does nothing by itself.
func requireSubcommand(cmd *cobra.Command, _ []string) error {
	_ = cmd.Help()
	return Usagef("%s requires a subcommand, such as %s", cmd.CommandPath(), cmd.Commands()[0].Name())
}

// share declares what all commands of the group have.
func (g *group) share(f *pflag.FlagSet) {
	g.Connection.Flags(f)
	if g.scope == ofDatabase {
		f.StringVar(&g.database, "database", "", "`NAME` of the database (default: that of the context, or the one named default)")
	}
	g.output.flags(f)
}

// A spec is a subcommand.
type spec struct {
	use, short, long string
	// example has a line for each call, without the program's name.
	example string
	args    cobra.PositionalArgs
	// complete are the names that the argument can be, as the server knows them.
	complete func(s *session) []string
	flags    func(f *pflag.FlagSet)
	// local commands ask no node.
	local bool
	view  viewing
	run   func(s *session) error
}

// viewing says what a terminal does with the output of a command.
type viewing int

const (
	printed viewing = iota
	paged           // long output goes through the pager
	watched         // that, and --watch shows it again and again
)

// A session is one run of a command.
type session struct {
	*Client
	*options
	ctx  context.Context
	cmd  *cobra.Command
	args []string
	watching
	notes io.Writer // where notes go; nil: standard error
	page  io.Writer // where the page goes that is being collected; nil without one
}

// add makes a subcommand of a spec.
func (g *group) add(n spec) *cobra.Command {
	cmd := &cobra.Command{}
	g.fill(cmd, n)
	if also, has := shortNames[cmd.Name()]; has {
		cmd.Aliases = []string{also}
	}
	g.AddCommand(cmd)
	return cmd
}

// shortNames are other names of subcommands, which people know from shells and other programs.
var shortNames = map[string]string{"list": "ls", "get": "show", "delete": "rm"}

// fill makes a command of a spec.
func (g *group) fill(cmd *cobra.Command, n spec) {
	if n.args == nil {
		n.args = cobra.NoArgs
	}
	cmd.Use, cmd.Short, cmd.Args = n.use, n.short, UsageArgs(n.args)
	if n.long != "" {
		cmd.Long = n.short + "\n\n" + n.long
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(n.example), "\n") {
		lines = append(lines, "  trireme "+strings.TrimSpace(line))
	}
	cmd.Example = strings.Join(lines, "\n")
	w := &watching{}
	if n.view == watched {
		w.flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		s, err := g.session(ctx, cmd, args, n.local)
		if err != nil {
			return err
		}
		s.watching = *w
		if err := w.unused(cmd.Flags()); err != nil {
			return err
		}
		switch {
		case w.watch:
			return w.each(s, func(io.Writer) error { return n.run(s) }, nil)
		case n.view != printed:
			return s.paged(n.run)
		}
		return n.run(s)
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if n.complete != nil {
		cmd.ValidArgsFunction = g.names(n.complete)
	}
	if n.flags != nil {
		n.flags(cmd.Flags())
	}
	g.completeFlags(cmd)
}

func (g *group) session(ctx context.Context, cmd *cobra.Command, args []string, local bool) (*session, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	g.to = look(cmd.OutOrStdout(), g.color)
	s := &session{options: &g.options, ctx: ctx, cmd: cmd, args: args}
	if local {
		return s, nil
	}
	client, err := g.Connect()
	s.Client = client
	return s, err
}

// UsageArgs makes the complaints of an argument check exit as wrong usage.
func UsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return Usagef("%s %w; %s", cmd.CommandPath(), err, "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// in is a path of the API in the database of the session.
func (s *session) in(path string) string {
	if s.Client.database == "" || s.Client.database == "default" {
		return path
	}
	return "/db/" + escape(s.Client.database) + path
}

// get asks for a path, and returns the answer as it is.
func (s *session) get(path string) ([]byte, error) {
	return s.send(s.ctx, request{method: "GET", path: path})
}

// listsAll adds the command list, of what comes in one answer.
func (g *group) listsAll(short, example, path string, columns []column) {
	g.add(spec{use: "list", short: short, example: example, view: watched, run: func(s *session) error { return s.list(s.in(path), columns) }})
}

// list prints a list that comes in one answer.
func (s *session) list(path string, columns []column) error {
	doc, err := s.get(path)
	if err != nil {
		return err
	}
	_, err = s.listed(json.RawMessage(doc), columns)
	return err
}

// listed prints a document that is a list, and returns its items.
func (s *session) listed(v any, columns []column) ([]any, error) {
	doc, err := encode(v)
	if err != nil {
		return nil, err
	}
	if v, err = decode(doc); err != nil {
		return nil, err
	}
	items, ok := v.([]any)
	if !ok {
		return nil, errorf(ExitUnreachable, "the answer is not a list: is it a Trireme node?")
	}
	return items, s.rows(s.cmd.OutOrStdout(), doc, items, columns)
}

// itemsOf returns the list that a document has under a key.
func (s *session) itemsOf(doc []byte, key string) ([]any, error) {
	v, err := decode(doc)
	if err != nil {
		return nil, err
	}
	m, _ := v.(map[string]any)
	items, ok := m[key].([]any)
	if !ok && m[key] != nil {
		return nil, s.noNode()
	}
	return items, nil
}

// record prints a document that is one thing.
func (s *session) record(v any, quiet string) error {
	doc, err := encode(v)
	if err != nil {
		return err
	}
	return s.fields(s.cmd.OutOrStdout(), doc, quiet)
}

// shows adds a command that prints one thing, which has its address below path; quiet names the member that --quiet prints.
func (g *group) shows(n spec, path, quiet string) {
	n.args, n.view = cobra.ExactArgs(1), watched
	n.run = func(s *session) error { return s.show(s.in(path+escape(s.args[0])), quiet) }
	g.add(n)
}

// explains adds a command that says what a thing waits for.
func (g *group) explains(n spec, path string) {
	n.args, n.view = cobra.ExactArgs(1), watched
	n.run = func(s *session) error { return s.explained(path + escape(s.args[0])) }
	g.add(n)
}

// show prints one thing.
func (s *session) show(path, quiet string) error {
	doc, err := s.get(path)
	if err != nil {
		return err
	}
	return s.record(json.RawMessage(doc), quiet)
}

// say prints what an action did.
func (s *session) say(doc any, format string, args ...any) error {
	return s.output.done(s.cmd.OutOrStdout(), doc, format, args...)
}

// note prints a line for people only.
func (s *session) note(format string, args ...any) {
	if s.quiet {
		return
	}
	out := s.notes
	if out == nil {
		out = s.cmd.ErrOrStderr()
	}
	fmt.Fprintf(out, format+"\n", args...)
}
