package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var subcommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +\S`)

// manual writes a manual page for the program and for each of its commands from their own
// help texts, so that they cannot disagree.
func manual(help func(words ...string) (string, error), version string, when time.Time) ([]file, error) {
	var pages []file
	var visit func(words ...string) error
	visit = func(words ...string) error {
		text, err := help(words...)
		if err != nil {
			return fmt.Errorf("help of %v: %w", words, err)
		}
		name := strings.Join(append([]string{"trireme"}, words...), "-")
		pages = append(pages, file{"man/" + name + ".1", 0o644, page(name, text, version, when)})
		_, list, ok := strings.Cut(text, "Available Commands:\n")
		if !ok {
			return nil
		}
		list, _, _ = strings.Cut(list, "\n\n")
		for _, m := range subcommand.FindAllStringSubmatch(list, -1) {
			if m[1] == "help" || m[1] == "completion" {
				continue
			}
			if err := visit(append(words[:len(words):len(words)], m[1])...); err != nil {
				return err
			}
		}
		return nil
	}
	return pages, visit()
}

// page is a manual page in roff: the first line is the name's description, the rest is set
// as it is.
func page(name, help, version string, when time.Time) []byte {
	first, rest, _ := strings.Cut(help, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s \"trireme %s\" \"Trireme\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", strings.ToUpper(name), when.Format("2006-01-02"), version, name, roff(first))
	for line := range strings.SplitSeq(strings.TrimSpace(rest), "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n.SH SEE ALSO\nThe documentation is at https://github.com/trireme-dev/trireme/tree/main/docs.\n")
	return []byte(b.String())
}

// roff escapes a line of text.
func roff(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, `\`, `\e`), "-", `\-`)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
