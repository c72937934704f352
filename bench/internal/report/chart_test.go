package report

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
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
	for _, want := range []string{`cx="360.0" cy="210.0"`, `cx="632.0" cy="72.0"`, `cx="632.0" cy="348.0"`, ">SET<", ">cost &lt;of&gt; a request<", ">us<", ">100k<", ">30<"} {
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

func TestAxesNameRoundFigures(t *testing.T) {
	line := func(figures ...float64) []Line {
		var l Line
		for i, v := range figures {
			l.Points = append(l.Points, Point{float64(i + 1), v})
		}
		return []Line{l}
	}
	for _, one := range []struct {
		chart Chart
		want  []float64
	}{
		{Chart{Lines: line(3, 41)}, []float64{0, 20, 40, 60}},
		{Chart{Lines: line(97)}, []float64{0, 25, 50, 75, 100}},
		{Chart{Powers: true, Lines: line(35, 8200)}, []float64{10, 100, 1000, 10000}},
	} {
		f := one.chart.frame()
		if got := f.ticks(); !slices.Equal(got, one.want) {
			t.Errorf("%v: %v, want %v", one.chart.Lines, got, one.want)
		}
	}
}

func TestSizesInBytesHaveUnits(t *testing.T) {
	c := Chart{Bytes: true}
	for size, want := range map[float64]string{16: "16 B", 4096: "4 KiB", 1 << 20: "1 MiB", 1 << 31: "2048 MiB"} {
		if got := c.Size(size); got != want {
			t.Errorf("%v: %q, want %q", size, got, want)
		}
	}
}
