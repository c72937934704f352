package commandtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrSurface says that the list of commands can't be read.
var ErrSurface = errors.New("commandtest: malformed list of commands")

// SurfaceRow is a command that there has to be.
type SurfaceRow struct {
	Name  string
	Arity int
	// Tier is P0, P1 or P2: what clients send, what tools do, the rest.
	Tier string
	// HTTP says that the gateway takes it as a command, ReadOnly that the Read Only token
	// may give it.
	HTTP, ReadOnly bool
	// Line is the line of the row, counted from 1.
	Line int
}

// Surface is the list of commands that there have to be.
type Surface struct {
	Rows []SurfaceRow
	// Differs says of rows why they are not in the table as the list has them, Pending
	// who brings those that are still to come.
	Differs, Pending map[string]string
}

// ReadSurface reads the list at path. A line that it can't read is an ErrSurface.
func ReadSurface(path string) (*Surface, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("commandtest: %w", err)
	}
	defer file.Close()
	s := &Surface{Differs: map[string]string{}, Pending: map[string]string{}}
	in := bufio.NewScanner(file)
	for line := 1; in.Scan(); line++ {
		if err := s.line(line, in.Text()); err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrSurface, path, line, err)
		}
	}
	return s, in.Err()
}

func (s *Surface) line(n int, text string) error {
	f := strings.Split(text, " | ")
	switch {
	case text == "" || text[0] == '#':
	case len(f) == 3 && f[0] == "differs":
		s.Differs[f[1]] = f[2]
	case len(f) == 3 && f[0] == "pending":
		s.Pending[f[1]] = f[2]
	case len(f) == 5:
		arity, err := strconv.Atoi(f[1])
		if err != nil {
			return err
		}
		s.Rows = append(s.Rows, SurfaceRow{f[0], arity, f[2], f[3] == "yes", f[4] == "yes", n})
	default:
		return fmt.Errorf("unknown line %q", text)
	}
	return nil
}
