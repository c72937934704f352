package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A sheet is a page about one thing: its state on top, why it is so, what happened, and what to type.
type sheet struct {
	*output
	b strings.Builder
}

// headline is the first line: the state, the name and what it is.
func (sh *sheet) headline(state, name, rest string) {
	look := looksOf(state)
	sh.b.WriteString(sh.to.paint(look.style, sh.to.symbol(look.symbol)+state) + "  " + sh.to.paint(bold, printable(name)))
	if rest != "" {
		sh.b.WriteString("  " + printable(rest))
	}
	sh.b.WriteByte('\n')
}

// sentence is a line of text; an empty one is left out.
func (sh *sheet) sentence(text string) {
	if text != "" {
		sh.b.WriteString(printable(text) + "\n")
	}
}

// section begins a part of the page.
func (sh *sheet) section(title string) {
	sh.b.WriteString("\n" + sh.to.paint(bold, title) + "\n")
}

// pairs prints names with values below one another; those without a value are left out.
func (sh *sheet) pairs(lines [][2]string) error {
	var cells [][]text
	for _, l := range lines {
		if l[1] != "" && l[1] != "-" {
			cells = append(cells, []text{{l[0], dim}, {l[1], plainStyle}})
		}
	}
	return sh.align(&sh.b, cells)
}

// longCommand is the width of a command beside which no others are aligned.
const longCommand = 60

// commands is the part that says what to type, one command a line with what it does.
func (sh *sheet) commands(lines [][2]string) {
	lines = slices.DeleteFunc(lines, func(l [2]string) bool { return l[0] == "" })
	if len(lines) == 0 {
		return
	}
	sh.section("What to type")
	widest := 0
	for _, l := range lines {
		if n := displayWidth(printable(l[0])); n <= longCommand {
			widest = max(widest, n)
		}
	}
	for _, l := range lines {
		command := printable(l[0])
		sh.b.WriteString("  " + command)
		if l[1] != "" {
			sh.b.WriteString(strings.Repeat(" ", max(gap, widest-displayWidth(command)+gap)) + sh.to.paint(dim, "# "+l[1]))
		}
		sh.b.WriteByte('\n')
	}
}

// longText is the width to which texts of users are cut.
const longText = 400

// clip cuts a text, but for --output wide.
func (sh *sheet) clip(text string, most int) string {
	if sh.format == asWide {
		return text
	}
	return cut(text, most)
}

// moment is a time of a page: on a terminal also how long ago it was.
func (sh *sheet) moment(v any) string {
	full := when.data(v)
	if full == "" || !sh.to.is {
		return full
	}
	short := when.short(v, sh.to.now)
	if !strings.HasPrefix(short, "in ") {
		short += " ago"
	}
	return full + " (" + short + ")"
}

func (sh *sheet) print(w io.Writer) error {
	_, err := io.WriteString(w, sh.b.String())
	return err
}

// took is how long something took, with three digits at most: 12 ms, 1.35 s, 4m10s.
func took(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case ms < 0:
		return "-"
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
	default:
		return rough(d)
	}
}

// shellWord is a word of a command as a shell takes it: names come from users, and lines are copied.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+,", r)
	}
	if word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(printable(word), "'", `'\''`) + "'"
}

// textOf returns a member of an object as a text, empty without one.
func textOf(v any, path string) string {
	if c := (column{member: path}).raw(v); c != nil {
		return plain(c)
	}
	return ""
}
