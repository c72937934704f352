package cli

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// A terminal is where output goes. The zero value is a pipe or a file: tables have whole times, no colour and any width.
type terminal struct {
	is            bool
	width, height int
	color         bool
	symbols       bool // its locale has them
	now           time.Time
}

// The values of --color.
var colors = []string{"auto", "always", "never"}

// look returns the terminal behind a stream. Colour is that of --color; auto is a terminal where neither NO_COLOR nor TERM=dumb is set.
func look(out io.Writer, color string) terminal {
	t := terminal{is: IsTerminal(out), now: time.Now()}
	t.color = color == "always" || color == "auto" && t.is && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if !t.is {
		return t
	}
	t.symbols = utf8Locale()
	t.width, t.height = 80, 24
	if w, h, err := term.GetSize(int(out.(*os.File).Fd())); err == nil && w > 0 && h > 0 {
		t.width, t.height = w, h
		return t
	}
	for name, to := range map[string]*int{"COLUMNS": &t.width, "LINES": &t.height} { // of a terminal that does not say
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			*to = n
		}
	}
	return t
}

// utf8Locale reports whether the locale is one of UTF-8. The first of these variables that is set counts.
func utf8Locale() bool {
	locale := strings.ToLower(first(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// A style is how a text is shown, as the parameter of the escape sequence; empty is plain.
type style string

const (
	plainStyle style = ""
	bold       style = "1"
	dim        style = "2"
	red        style = "31"
	green      style = "32"
	yellow     style = "33"
	blue       style = "36" // cyan: blue can't be read on black
)

// paint returns a text in a style, where there is colour.
func (t *terminal) paint(s style, text string) string {
	if !t.color || s == plainStyle || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// symbol returns a symbol with a space, where the terminal shows them.
func (t *terminal) symbol(s string) string {
	if !t.symbols || s == "" {
		return ""
	}
	return s + " "
}
