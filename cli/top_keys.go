package cli

import (
	"bufio"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
)

// keyRow is a key with the commands that named it since counting began.
type keyRow struct {
	Key     string  `json:"key"`
	Rate    float64 `json:"commandsPerSecond"`
	Count   int     `json:"commands"`
	Command string  `json:"mostOften"` // the command that named it most often
}

var keyColumns = []column{
	{"KEY", "key", nil, named}, {"COMMANDS/S", "commandsPerSecond", fixed(1, ""), keep}, {"COMMANDS", "commands", nil, keep}, {"MOST OFTEN", "mostOften", nil, drops},
}

// Bounds of counting keys.
const (
	mostCountedKeys = 10_000 // keys that come later are not counted
	mostKeyRows     = 100
)

// hotKeys counts the keys of the commands that nodes execute in a database, while it is on.
type hotKeys struct {
	table *command.Table
	end   context.CancelFunc

	mu     sync.Mutex
	begin  time.Time
	counts map[string]map[string]int // by key and command
	failed error
}

// watchKeys begins to count.
func (s *session) watchKeys() *hotKeys {
	ctx, end := context.WithCancel(s.ctx)
	h := &hotKeys{table: command.NewTable(), end: end, begin: time.Now(), counts: map[string]map[string]int{}}
	go func() {
		err := s.monitor(ctx, h.line)
		h.mu.Lock()
		defer h.mu.Unlock()
		if ctx.Err() == nil {
			h.failed = err
		}
	}()
	return h
}

// monitor calls line for each command that nodes execute in the database, until the stream ends.
func (s *session) monitor(ctx context.Context, line func(string)) error {
	resp, err := s.Stream(ctx, "POST", s.in("/monitor"), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 1<<16)
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return errorf(ExitUnreachable, "the stream of %s ended", s.Client.url)
		}
		if data, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "data: "); ok {
			line(data)
		}
	}
}

// line counts the keys of a command: TIME [DB ADDRESS] "WORD" "WORD"…
func (hk *hotKeys) line(text string) {
	_, text, ok := strings.Cut(text, "] ")
	words, err := splitWords(text)
	if !ok || err != nil || len(words) == 0 {
		return
	}
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	row := hk.table.Find(argv)
	if row == nil || !row.Takes(len(argv)) {
		return
	}
	hk.mu.Lock()
	defer hk.mu.Unlock()
	for _, at := range row.Keys.Positions(argv) {
		of := hk.counts[words[at]]
		if of == nil && len(hk.counts) >= mostCountedKeys {
			continue
		}
		if of == nil {
			of = map[string]int{}
			hk.counts[words[at]] = of
		}
		of[strings.ToUpper(row.Name)]++
	}
}

func (hk *hotKeys) stop() {
	if hk != nil {
		hk.end()
	}
}

// rows returns the keys that were named most often.
func (hk *hotKeys) rows(now time.Time) ([]any, error) {
	hk.mu.Lock()
	defer hk.mu.Unlock()
	passed := max(now.Sub(hk.begin).Seconds(), 0.001)
	var all []keyRow
	for key, of := range hk.counts {
		row := keyRow{Key: key}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if row.Count += of[name]; row.Command == "" || of[name] > of[row.Command] {
				row.Command = name
			}
		}
		row.Rate = float64(int(float64(row.Count)/passed*10+0.5)) / 10
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b keyRow) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Key, b.Key)
	})
	rows := []any{}
	for _, row := range all[:min(len(all), mostKeyRows)] {
		rows = append(rows, row)
	}
	return rows, hk.failed
}
