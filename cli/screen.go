package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen is the alternate screen of a terminal: what was there before comes back when it closes.
type screen struct {
	out    io.Writer
	in     *os.File    // nil if standard input is no terminal
	before *term.State // of in
	keys   chan rune
}

// Keys that are no characters.
const (
	keyInterrupt = 3
	keyUp        = -1 - iota
	keyDown
)

var arrows = map[string]rune{"\x1b[A": keyUp, "\x1bOA": keyUp, "\x1b[B": keyDown, "\x1bOB": keyDown}

// openScreen takes the terminal over: no echo, and keys as they are pressed.
func openScreen(out io.Writer, in io.Reader) *screen {
	s := &screen{out: out, keys: make(chan rune, 16)}
	if f, ok := in.(*os.File); ok && IsTerminal(f) {
		if before, err := term.MakeRaw(int(f.Fd())); err == nil {
			s.in, s.before = f, before
			go s.read()
		}
	}
	fmt.Fprint(out, "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J") // alternate screen, no cursor, no line wrap
	return s
}

// close gives the terminal back.
func (s *screen) close() {
	fmt.Fprint(s.out, "\x1b[?7h\x1b[?25h\x1b[?1049l")
	if s.before != nil {
		_ = term.Restore(int(s.in.Fd()), s.before) // nothing more can be done
	}
}

// read sends the keys that are pressed until standard input ends.
func (s *screen) read() {
	buffer := make([]byte, 64)
	for {
		n, err := s.in.Read(buffer)
		if err != nil {
			return
		}
		for text := buffer[:n]; len(text) > 0; {
			key, used := keyOf(text)
			text = text[used:]
			select {
			case s.keys <- key:
			default: // typed faster than shown
			}
		}
	}
}

// keyOf returns the key that a text begins with, and the bytes that it takes.
func keyOf(text []byte) (key rune, used int) {
	for sequence, key := range arrows {
		if strings.HasPrefix(string(text), sequence) {
			return key, len(sequence)
		}
	}
	if text[0] == '\x1b' && len(text) > 2 { // another key without a character
		return 0, len(text)
	}
	return utf8.DecodeRune(text)
}

// draw shows a frame from the top, as much of it as there is room for, and a line at the bottom.
func (s *screen) draw(frame, status string, height int) {
	lines := strings.Split(strings.TrimRight(frame, "\n"), "\n")
	room := max(1, height-1)
	if len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("… %d more lines", len(lines)-room+1))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range lines {
		b.WriteString(line + "\x1b[0m\x1b[K\r\n")
	}
	b.WriteString("\x1b[J" + fmt.Sprintf("\x1b[%d;1H", height) + status + "\x1b[0m\x1b[K")
	_, _ = io.WriteString(s.out, b.String()) // a terminal that is gone ends the command by a signal
}
