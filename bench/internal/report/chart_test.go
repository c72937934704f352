package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestChartIsDrawn(t *testing.T) {
	c := Chart{Title: "cost <of> a request", Along: "keys", Unit: "us", Lines: []Line{
		{Name: "SET", Points: []Point{{1e4, 10}, {1e5, 20}, {1e6, 40}}},
		{Name: "GET", Points: []Point{{1e4, 5}, {1e6, 0}}},
	}}
	var b strings.Builder
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// The middle of 10k and 1M is 100k, as the axis grows by factors; 40 is at the top.
	for _, want := range []string{`cx="300.0" cy="175.0"`, `cx="530.0" cy="40.0"`, `cx="530.0" cy="310.0"`, ">SET<", "cost &lt;of&gt; a request, us"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in %s", want, b.String())
		}
	}
}

func TestChartOfNothingFails(t *testing.T) {
	for _, c := range []Chart{{Title: "empty"}, {Title: "zero", Powers: true, Lines: []Line{{Points: []Point{{1, 0}, {2, 1}}}}}} {
		if err := c.SVG(io.Discard); err == nil {
			t.Errorf("%s was drawn", c.Title)
		}
	}
}
