package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/plural"
)

// sinkPath is the URL path of a development server's sinks. A sink's name follows it.
const sinkPath = "/test/sink"

// sinkHandler serves the sinks of "dev --sink", nil without. A server with a test clock has the rest of /test too.
func (pr *process) sinkHandler() func(permitted func(*http.Request) bool) http.Handler {
	dev, is := pr.profile.(*devNode)
	switch {
	case pr.testing != nil && is && dev.Sink:
		pr.testing.sinks.Watch = printReceived(dev.out)
		return pr.testing.api
	case pr.testing != nil:
		return pr.testing.api
	case !is || !dev.Sink:
		return nil
	}
	sinks := testapi.NewSinks(func() int64 { return time.Now().UnixMilli() })
	sinks.Watch = printReceived(dev.out)
	return sinks.Handler
}

// maxShownBody bounds the part of a body that a line shows, in bytes.
const maxShownBody = 500

// printReceived prints a line for each request that comes to a sink.
func printReceived(out io.Writer) func(name string, r testapi.Received) {
	return func(name string, r testapi.Received) {
		fmt.Fprintf(out, "sink %s received %s, %s: %s\n", escapeLine(name), r.Method, plural.Of(len(r.Body), "byte"), escapeLine(r.Body))
	}
}

// escapeLine returns a text on one line. Characters with which a terminal would do anything but print them are escaped.
func escapeLine(text string) string {
	more := ""
	if len(text) > maxShownBody {
		end := maxShownBody
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text, more = text[:end], "…"
	}
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text + more
	}
	return strconv.Quote(text) + more
}
