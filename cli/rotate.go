package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A rotating holds the flags of tokens rotate.
type rotating struct {
	consent
	overlap         time.Duration
	endOverlap      bool
	out, token, ro  string
	name, path, end string // of what is rotated, the path that rotates it, and the one that ends its overlap
	database        bool
}

// rotateSpec is the command that replaces tokens while the cluster runs.
func rotateSpec() spec {
	r := &rotating{}
	return spec{
		use: "rotate admin|messages|messages-readonly|database [NAME]", short: "Replace a token; the old and the new one are both valid for a while",
		args: cobra.RangeArgs(1, 2), complete: func(*session) []string { return []string{"admin", "messages", "messages-readonly", "database"} },
		long: "Draws a new token, or takes that of --from-file, and puts it in force on all nodes. The former one stays in force for\n" +
			"--overlap, by the cluster's clock (0s: it is void at once), and a former one from a rotation before ends at once.\n" +
			"\"database NAME\" are both tokens of a database; without a name it is the database of --database or of the context.\n" +
			"The new tokens are printed once, or written to the file of --out, which only you can read. Then give them to your\n" +
			"clients, and to the variables of the nodes: a node warns at its start when a variable differs from what is stored.",
		example: "tokens rotate messages --overlap 24h --out messages.env\ntokens rotate admin --overlap 1h\ntokens rotate database shop --overlap 0s --yes\ntokens rotate admin --end-overlap",
		flags:   r.flags,
		run:     func(s *session) error { return r.run(s) },
	}
}

func (r *rotating) flags(f *pflag.FlagSet) {
	r.consent.flags(f)
	f.DurationVar(&r.overlap, "overlap", time.Hour, "how long the former token stays valid (0s = not at all)")
	f.BoolVar(&r.endOverlap, "end-overlap", false, "invalidate the former token now and rotate nothing")
	f.StringVar(&r.out, "out", "", "write the new tokens as lines NAME=VALUE to a new `FILE` of mode 0600, and don't print them")
	f.StringVar(&r.token, "from-file", "", "take the new token from `FILE`, of at least 16 bytes; of a database the Standard token")
	f.StringVar(&r.ro, "readonly-from-file", "", "take the new Read Only token of a database from `FILE`")
}

// choose finds what is to be rotated.
func (r *rotating) choose(s *session) error {
	switch what := s.args[0]; {
	case what == "database":
		r.database, r.name = true, first(s.Client.database, "default")
		if len(s.args) > 1 {
			r.name = s.args[1]
		}
		r.path, r.end = databasePath(r.name)+"/rotate-tokens", databasePath(r.name)+"/former-tokens"
	case len(s.args) > 1:
		return Usagef("tokens rotate %s takes no second name: did you mean tokens rotate database %s?", what, s.args[1])
	case what != "admin" && what != "messages" && what != "messages-readonly":
		return Usagef("tokens rotate takes admin, messages, messages-readonly or database [NAME], not %q: did you mean tokens rotate database %s?", what, what)
	default:
		r.name, r.path, r.end = what, "/admin/tokens/"+url.PathEscape(what)+"/rotate", "/admin/tokens/"+url.PathEscape(what)+"/former"
	}
	if r.ro != "" && !r.database {
		return Usagef("--readonly-from-file is for the tokens of a database")
	}
	return r.check(s.cmd.Flags())
}

// maxOverlap is the longest overlap that nodes take.
const maxOverlap = 90 * 24 * time.Hour

// check refuses an overlap that no node takes, and flags that --end-overlap would ignore.
func (r *rotating) check(f *pflag.FlagSet) error {
	if r.overlap < 0 || r.overlap > maxOverlap {
		return Usagef("--overlap must be 0s to %.0fh (90 days), got %s", maxOverlap.Hours(), r.overlap)
	}
	if r.overlap > 0 && r.overlap < time.Millisecond {
		return Usagef("--overlap must be 0s or at least 1ms, got %s", r.overlap)
	}
	if !r.endOverlap {
		return nil
	}
	for _, other := range []string{"overlap", "out", "from-file", "readonly-from-file"} {
		if f.Changed(other) {
			return Usagef("--end-overlap rotates nothing, so --%s would have no effect: give one of them", other)
		}
	}
	return nil
}

func (r *rotating) run(s *session) error {
	if err := r.choose(s); err != nil {
		return err
	}
	noun := "token of the cluster"
	if r.database {
		noun = "database"
	}
	if r.endOverlap {
		return r.carry(s, act{"end the former", noun, r.found(s), func() error {
			var doc json.RawMessage
			if err := s.Call(s.ctx, "DELETE", r.end, nil, &doc); err != nil {
				return err
			}
			return s.say(doc, "the former token of %s is void", r.name)
		}})
	}
	verb := "rotate"
	if r.database {
		verb = "rotate the tokens of"
	}
	return r.carry(s, act{verb, noun, r.found(s), func() error { return r.rotate(s) }})
}

// found are the names of what is rotated, if it is there.
func (r *rotating) found(s *session) func() ([]string, error) {
	return func() ([]string, error) {
		if r.database {
			return []string{r.name}, s.existing(r.name)
		}
		return []string{r.name}, nil
	}
}

func (r *rotating) rotate(s *session) error {
	body := map[string]any{"overlapMs": r.overlap.Milliseconds()}
	for name, path := range map[string]string{"token": r.token, "readonlyToken": r.ro} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return Usagef("can't read the new token: %w", err)
		}
		body[name] = strings.TrimSpace(string(text))
	}
	keep, err := r.keep()
	if err != nil {
		return err
	}
	var doc json.RawMessage
	if err := s.Call(s.ctx, "POST", r.path, body, &doc); err != nil {
		return keep(nil, err)
	}
	var made struct{ Token, ReadOnlyToken, FormerUntil string }
	if json.Unmarshal(doc, &made) != nil || made.Token == "" {
		return keep(nil, s.noNode())
	}
	if r.out == "" {
		return s.fields(s.cmd.OutOrStdout(), doc, "token")
	}
	if err := keep(r.lines(made.Token, made.ReadOnlyToken), nil); err != nil {
		_ = s.fields(s.cmd.OutOrStdout(), doc, "token") // which is in force already
		return err
	}
	former := "the former one is void"
	if made.FormerUntil != "" {
		former = "the former one is in force until " + made.FormerUntil
	}
	return s.say(map[string]string{"name": r.name, "file": r.out, "formerUntil": made.FormerUntil}, "the new token of %s is in %s; %s", r.name, r.out, former)
}

// lines are the variables of nodes and clients for the new tokens.
func (r *rotating) lines(token, readOnly string) []byte {
	if r.database {
		return fmt.Appendf(nil, "TRIREME_TOKEN=%s\nTRIREME_READONLY_TOKEN=%s\n", token, readOnly)
	}
	return fmt.Appendf(nil, "TRIREME_%s_TOKEN=%s\n", strings.ToUpper(strings.ReplaceAll(r.name, "-", "_")), token)
}

// keep makes the file of --out before anything is rotated: a new token must not be lost because it can't be written. What
// it returns writes the lines, or removes the file after a failure.
func (r *rotating) keep() (func(lines []byte, failed error) error, error) {
	if r.out == "" {
		return func(_ []byte, failed error) error { return failed }, nil
	}
	f, err := os.OpenFile(r.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, Usagef("can't make the file of --out: %w", err)
	}
	return func(lines []byte, failed error) error {
		if failed == nil {
			_, failed = f.Write(lines)
		}
		if failed == nil {
			failed = f.Sync()
		}
		if closed := f.Close(); failed == nil {
			failed = closed
		}
		if failed != nil && lines == nil {
			os.Remove(r.out)
		}
		return failed
	}, nil
}
