package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/plural"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// redisCommand runs commands of the keyspace over HTTP.
func redisCommand() *cobra.Command {
	r := &redis{}
	cmd := newCommand(&group{scope: ofDatabase}, spec{
		use: "redis [COMMAND ARGUMENT…]", short: "Run a command on keys, or open a prompt", args: cobra.ArbitraryArgs,
		long: "Runs one command over HTTP and prints its reply. Without a command it opens a prompt with completion (tab), history\n" +
			"(arrows) and help (help, help COMMAND), or, if standard input is no terminal, runs the commands of its lines. MULTI\n" +
			"collects commands until EXEC; SUBSCRIBE, PSUBSCRIBE and MONITOR print what comes until an interrupt. Flags stand\n" +
			"before the command. Replies are printed as redis-cli does: with types on a terminal, as they are elsewhere. On a terminal a\n" +
			"command that deletes more than it names, such as FLUSHALL, asks first.",
		example: `redis SET greeting hello EX 60
redis --database shop HGETALL cart:17
redis --output json LRANGE list 0 -1
redis`,
		run: func(s *session) error { return r.run(s) },
	})
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&r.raw, "raw", false, "print replies unformatted, also on a terminal")
	f.BoolVarP(&r.yes, "yes", "y", false, "skip the confirmation of commands that delete more than they name, such as FLUSHALL")
	f.BoolVar(&r.typed, "no-raw", false, "print replies with their types, also without a terminal")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		return commandNames(strings.Join(append(args, start), " "), len(args)), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// redis is one call of trireme redis.
type redis struct {
	*session
	raw, typed bool
	yes        bool
	table      *command.Table
	queued     [][]string // since MULTI, nil outside
}

func (r *redis) run(s *session) error {
	r.session, r.table = s, command.NewTable()
	if s.format == asCSV || s.byName {
		return Usagef("replies are neither rows nor names: --output of redis must be %s, %s, %s or jsonpath=PATH", asTable, asJSON, asYAML)
	}
	if r.raw && r.typed {
		return Usagef("both --raw and --no-raw are given: give one of them")
	}
	if !r.raw && !r.typed {
		r.raw = !IsTerminal(s.cmd.OutOrStdout())
	}
	switch {
	case len(s.args) > 0:
		if err := r.confirm(s.args); err != nil {
			return err
		}
		return r.execute(s.args)
	case IsTerminal(s.cmd.InOrStdin()):
		return r.prompt()
	}
	return r.lines(s.cmd.InOrStdin())
}

// lines runs the commands of standard input. One that fails doesn't end it, but its exit code.
func (r *redis) lines(in io.Reader) error {
	failed, code := 0, ExitFailed
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		if words, bad := splitWords(line); bad != nil {
			return bad
		} else if len(words) > 0 {
			if done := r.step(words, r.cmd.ErrOrStderr()); done != nil {
				if code = ExitCode(done); code != ExitFailed {
					return done
				}
				failed++
			}
		}
		if err != nil {
			break
		}
	}
	if failed > 0 {
		return errorf(code, "%s failed", plural.Of(failed, "command"))
	}
	return nil
}

// step runs a line of a prompt or a file. An error of the command itself is printed.
func (r *redis) step(words []string, errs io.Writer) error {
	name := strings.ToLower(words[0])
	switch {
	case name == "multi" && r.queued == nil:
		r.queued = [][]string{}
		return r.print(reply.OK(), nil)
	case name == "discard" && r.queued != nil:
		r.queued = nil
		return r.print(reply.OK(), nil)
	case name == "exec" && r.queued != nil:
		queued := r.queued
		r.queued = nil
		return r.printError(errs, r.transaction(queued))
	}
	if err := r.confirm(words); err != nil {
		return r.printError(errs, err)
	}
	if r.queued != nil {
		r.queued = append(r.queued, words)
		return r.print(reply.Status("QUEUED"), nil)
	}
	return r.printError(errs, r.execute(words))
}

// printError prints an error of a command to errs.
func (r *redis) printError(errs io.Writer, err error) error {
	if err != nil && ExitCode(err) == ExitFailed {
		_, _ = io.WriteString(errs, "(error) "+strings.ReplaceAll(err.Error(), "\n", " ")+"\n")
	}
	return err
}

// execute runs one command and prints its reply.
func (r *redis) execute(words []string) error {
	switch strings.ToLower(words[0]) {
	case "subscribe", "psubscribe", "monitor":
		return r.stream(words)
	}
	v, err := r.ask(words...)
	if err != nil {
		return err
	}
	return r.print(v, words)
}

// transaction runs commands as one. The answer is JSON in any case.
func (r *redis) transaction(rows [][]string) error {
	texts := make([]string, len(rows))
	for i, words := range rows {
		texts[i] = jsonWords(words)
	}
	if len(rows) == 0 {
		return r.print(reply.Array(), nil)
	}
	text, err := r.send(r.ctx, request{method: "POST", path: r.in("/multi-exec"), body: []byte("[" + strings.Join(texts, ",") + "]")})
	if err != nil {
		return err
	}
	var answers []struct {
		Result json.RawMessage `json:"result"`
		Error  *string         `json:"error"`
	}
	if json.Unmarshal(text, &answers) != nil {
		return r.noNode()
	}
	values := make([]reply.Value, len(answers))
	for i, a := range answers {
		if a.Error != nil {
			values[i] = reply.Error(*a.Error)
			continue
		}
		v, err := decode(a.Result)
		if err != nil {
			return err
		}
		values[i] = valueOf(v)
	}
	return r.print(reply.Array(values...), nil)
}

// valueOf is a reply that came as JSON.
func valueOf(v any) reply.Value {
	switch v := v.(type) {
	case string:
		return reply.Bulk(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return reply.Int(n)
		}
		return reply.Bulk(v.String())
	case []any:
		all := make([]reply.Value, len(v))
		for i, one := range v {
			all[i] = valueOf(one)
		}
		return reply.Array(all...)
	}
	return reply.Nil()
}

// stream prints the events of a subscription until it ends.
func (r *redis) stream(words []string) error {
	path := "/" + strings.ToLower(words[0])
	for _, name := range words[1:] {
		path += "/" + url.PathEscape(name)
	}
	resp, err := r.Stream(r.ctx, "POST", r.in(path), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = readEvents(resp.Body, func(_, data string) error {
		_, err := io.WriteString(r.cmd.OutOrStdout(), printable(data)+"\n")
		return err
	}, func(reason string) { r.note("%s", printable(reason)) })
	switch {
	case r.ctx.Err() != nil:
		return nil // an interrupt ends it normally
	case errors.Is(err, errStreamEnd):
		return errorf(ExitUnreachable, "the stream of %s ended", r.Client.url)
	}
	return err
}

// errStreamEnd is the end of server-sent events, however it came.
var errStreamEnd = errors.New("the stream has ended")

// readEvents reads server-sent events until their end, which is errStreamEnd, or until an event fails. note is told the reason that a
// node gives for the end.
func readEvents(from io.Reader, event func(id, data string) error, note func(reason string)) error {
	in, id, data := bufio.NewReader(from), "", []string{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return errStreamEnd
		}
		line = strings.TrimRight(line, "\r\n")
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, text)
		} else if text, ok := strings.CutPrefix(line, "id: "); ok {
			id = text
		} else if reason, ok := strings.CutPrefix(line, ": "); ok && reason != "" {
			note(reason)
		} else if line == "" && len(data) > 0 {
			if err := event(id, strings.Join(data, "\n")); err != nil {
				return err
			}
			data = data[:0]
		}
	}
}

// splitWords parts a line into words as redis-cli does: with quotes and, in double ones, escapes.
func splitWords(line string) ([]string, error) {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") {
		return nil, nil
	}
	if line[0] == '*' {
		return nil, Usagef("a command can't begin with an asterisk")
	}
	var p protocol.Parser
	argv, _, err := p.Next([]byte(line+"\n"), &protocol.Limits{Inline: len(line) + 1, Words: len(line) + 1})
	if err != nil {
		return nil, Usagef("unbalanced quotes in %q", line)
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = string(w)
	}
	return words, nil
}
