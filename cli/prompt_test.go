package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/term"

	"github.com/trireme-dev/trireme/fsm/command"
)

// typedLine types keys at the prompt, and returns the line and the terminal's content.
func typedLine(t *testing.T, keys string) (line, shown string) {
	t.Helper()
	var out bytes.Buffer
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{strings.NewReader(keys), &out}, "> ")
	r := &redis{table: command.NewTable()}
	terminal.AutoCompleteCallback = r.completion(terminal)
	line, err := terminal.ReadLine()
	if err != nil {
		t.Fatalf("%q: %v", keys, err)
	}
	return line, out.String()
}

// TestPromptCompletes: tab completes the name of a command with its blank, goes as far as several agree, shows these if it can't go on,
// and leaves what is no command as it is.
func TestPromptCompletes(t *testing.T) {
	for keys, want := range map[string]string{
		"strl\tk\r":       "STRLEN k",
		"STRLEN\t k\r":    "STRLEN  k",
		"zrevrang\t\r":    "ZREVRANGE",
		"nosuch\t\r":      "nosuch",
		"GET k\t\r":       "GET k",
		"config rese\t\r": "CONFIG RESETSTAT ",
		"plain text\r":    "plain text",
		"strl\x1b[D\t\r":  "strl", // not at its end
	} {
		if got, _ := typedLine(t, keys); got != want {
			t.Errorf("%q becomes %q, want %q", keys, got, want)
		}
	}
	if _, shown := typedLine(t, "zrevrangeby\t\t\r"); !strings.Contains(shown, "ZREVRANGEBYLEX  ZREVRANGEBYSCORE") {
		t.Errorf("a second tab shows %q", shown)
	}
}

// TestPromptHelp: all commands by family, one with its syntax, a group with its subcommands.
func TestPromptHelp(t *testing.T) {
	r := &redis{table: command.NewTable()}
	all := r.help(nil)
	for _, row := range r.table.Rows() {
		if !strings.Contains(all, strings.ToUpper(row.Name)) {
			t.Errorf("help doesn't list %s", row.Name)
		}
	}
	if text := r.help([]string{"set"}); !strings.HasPrefix(text, "SET key value") || strings.Contains(text, "SETEX") {
		t.Errorf("help SET: %q", text)
	}
	if text := r.help([]string{"CONFIG"}); !strings.Contains(text, "CONFIG GET") || !strings.Contains(text, "CONFIG SET") {
		t.Errorf("help CONFIG: %q", text)
	}
	if text := r.help([]string{"nosuch"}); text != "there is no command \"nosuch\"; help lists all\n" {
		t.Errorf("help nosuch: %q", text)
	}
}

// TestPromptSign names the database, and in a transaction how much of it there is.
func TestPromptSign(t *testing.T) {
	for want, r := range map[string]*redis{
		"default> ":           {session: &session{Client: &Client{}}},
		"shop> ":              {session: &session{Client: &Client{target: target{database: "shop"}}}},
		"shop (1 command)> ":  {session: &session{Client: &Client{target: target{database: "shop"}}}, queued: [][]string{{"GET", "k"}}},
		"shop (2 commands)> ": {session: &session{Client: &Client{target: target{database: "shop"}}}, queued: make([][]string, 2)},
	} {
		if got := r.sign(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
