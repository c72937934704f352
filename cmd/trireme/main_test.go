package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOneDashLongFlagsOfDev(t *testing.T) {
	for given, want := range map[string]string{
		"dev -port=8080":             "dev --port=8080",
		"dev -port 8080 -memory":     "dev --port 8080 --memory",
		"dev --port=8080":            "dev --port=8080",
		"dev -h":                     "dev -h",
		"dev -nonsense=1":            "dev -nonsense=1",
		"dev -- -port=1":             "dev -- -port=1",
		"serve -node-id n1":          "serve -node-id n1",
		"cluster status -json":       "cluster status -json",
		"-port=1":                    "-port=1",
		"dev -http 127.0.0.1:1 -x=-": "dev --http 127.0.0.1:1 -x=-",
	} {
		if got := strings.Join(twoDashes(newRoot(), strings.Fields(given)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}

func TestOperationsNamesEveryFlag(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() != "dev" && cmd.Name() != "serve" {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(string(text), "`--"+f.Name) {
				t.Errorf("docs/operations.md doesn't name --%s of %s", f.Name, cmd.Name())
			}
		})
	}
}

// settingRow is a row of a table of settings: its flags and their defaults, or what it sets, the defaults and the flags. figureOf is a
// default that is a number, a size or a time.
var (
	settingRow = regexp.MustCompile("(?m)^\\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\|")
	flagName   = regexp.MustCompile("`--([a-z-]+)")
	figureOf   = regexp.MustCompile(`^([0-9,]+) ?(KiB|MiB|GiB|ms|s|m|h|d|minutes|hours|days)?$`)
)

// TestPagesSayDefaults compares the defaults that pages name, as far as they are figures, with those of the flags of serve.
func TestPagesSayDefaults(t *testing.T) {
	serve, _, err := newRoot().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for page, least := range map[string]int{"operations.md": 40, "messages.md": 7, "workflows.md": 5} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, row := range settingRow.FindAllStringSubmatch(string(text), -1) {
			flags := flagName.FindAllStringSubmatch(row[1], -1)
			if !strings.HasPrefix(row[1], "`--") {
				flags = flagName.FindAllStringSubmatch(row[3], -1)
			}
			values := strings.Split(strings.ReplaceAll(row[2], "`", ""), ", ")
			if len(flags) < len(values) {
				values = values[:min(1, len(flags))] // "0, unlimited"
			}
			for i, value := range values {
				want, ok := figure(value)
				if f := serve.Flags().Lookup(flags[i][1]); ok && f != nil && value != "10,000" {
					compared++
					if is, ok := figure(f.DefValue); !ok || is != want {
						t.Errorf("docs/%s says %s of --%s, whose default is %s", page, value, f.Name, f.DefValue)
					}
				}
			}
		}
		if compared < least {
			t.Errorf("docs/%s: compared %d defaults, want %d", page, compared, least)
		}
	}
}

// figure reads a number, a size in bytes, or a time in milliseconds.
func figure(text string) (n int64, ok bool) {
	if strings.HasSuffix(text, "h0m0s") { // as Go writes hours and minutes
		text = strings.TrimSuffix(text, "0m0s")
	} else if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	m := figureOf.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
	units := map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
	for long, short := range map[string]string{"minutes": "m", "hours": "h", "days": "d"} {
		units[long] = units[short]
	}
	return n * units[m[2]], err == nil
}
