package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/plural"
)

// The sections of top.
const (
	nodeSection        = "nodes"
	databaseSection    = "databases"
	destinationSection = "destinations"
	keySection         = "keys"
)

var sectionNames = []string{nodeSection, databaseSection, destinationSection, keySection}

// A section is a table of top.
type section struct {
	name, title string
	columns     []column
}

var sections = []section{
	{nodeSection, "Nodes", loadColumns},
	{databaseSection, "Databases", sizeColumns},
	{destinationSection, "Destinations", destinationColumns},
	{keySection, "Hot keys", keyColumns},
}

// sizeRow is a database with its size and how that changes.
type sizeRow struct {
	Name   string  `json:"name"`
	Keys   int64   `json:"keys"`
	Bytes  int64   `json:"bytes"`
	Growth float64 `json:"growthBytesPerSecond"`
	Users  int64   `json:"users"`
}

var sizeColumns = []column{
	{"DATABASE", "name", nil, named}, {"KEYS", "keys", nil, keep}, {"BYTES", "bytes", size, keep}, {"GROWTH/S", "growthBytesPerSecond", fixed(0, "B"), keep}, {"USERS", "users", nil, drops},
}

// topView is the document of a view.
type topView struct {
	Leader       string            `json:"leader"`
	Totals       totals            `json:"totals"`
	Nodes        []any             `json:"nodes"`
	Databases    []any             `json:"databases"`
	Destinations []any             `json:"destinations"`
	Since        int64             `json:"destinationsSince,omitempty"`
	Keys         []any             `json:"keys,omitempty"`
	Problems     map[string]string `json:"problems,omitempty"` // of sections
	unreachable  []string          // nodes that do not answer, with the reasons
}

// look asks the nodes.
func (t *top) look() (*topView, error) {
	view, err := t.s.cluster()
	if err != nil {
		return nil, err
	}
	v := &topView{Leader: view.Leader, Databases: []any{}, Destinations: []any{}, Problems: map[string]string{}}
	v.Nodes, v.Totals, v.unreachable = t.s.loads(&view, t.last)
	if v.Databases, err = t.databases(); err != nil {
		v.Problems[databaseSection] = err.Error()
	}
	if d, err := t.s.destinations(t.reach); err != nil {
		v.Problems[destinationSection] = err.Error()
	} else {
		t.reach, v.Destinations, v.Since = d, d.rows, d.since
	}
	if t.hot != nil {
		if v.Keys, err = t.hot.rows(time.Now()); err != nil {
			v.Problems[keySection] = err.Error()
		}
	}
	return v, nil
}

// databases are the sizes of the databases, the largest first.
func (t *top) databases() ([]any, error) {
	part, err := t.s.pages(&databaseList, nil, paging{limit: databaseList.most})
	if err != nil {
		return []any{}, err
	}
	items, err := part.values()
	if err != nil {
		return []any{}, err
	}
	now := time.Now()
	passed := now.Sub(t.at).Seconds()
	var all []sizeRow
	for _, item := range items {
		row := sizeRow{Name: textOf(item, "name")}
		row.Keys, _ = number((column{member: "keys"}).raw(item))
		row.Bytes, _ = number((column{member: "bytes"}).raw(item))
		row.Users, _ = number((column{member: "users"}).raw(item))
		if before, known := t.sizes[row.Name]; known && passed > 0 {
			row.Growth = float64(int64(float64(row.Bytes-before) / passed))
		}
		t.sizes[row.Name] = row.Bytes
		all = append(all, row)
	}
	t.at = now
	slices.SortStableFunc(all, func(a, b sizeRow) int { return int(b.Bytes - a.Bytes) })
	rows := make([]any, len(all))
	for i, row := range all {
		rows[i] = row
	}
	return rows, nil
}

// section is the one that is shown alone, or whose rows are printed and sorted.
func (t *top) section() *section {
	return &sections[max(0, slices.Index(sectionNames, t.by))]
}

// column finds a column by its title.
func (se *section) column(title string) (column, error) {
	for _, c := range se.columns {
		if strings.EqualFold(c.title, title) {
			return c, nil
		}
	}
	return column{}, Usagef("--sort must be %s for %s, got %q%s", listed(se.titles()), se.name, title, didYouMean("", nearest(title, se.titles())))
}

func (se *section) titles() []string {
	titles := make([]string, len(se.columns))
	for i, c := range se.columns {
		titles[i] = c.title
	}
	return titles
}

// after returns the title of the column after one, of the first after the last.
func (se *section) after(title string) string {
	i := slices.IndexFunc(se.columns, func(c column) bool { return c.title == title })
	return se.columns[(i+1)%len(se.columns)].title
}

// arrange filters and sorts the rows of a section.
func (t *top) arrange(se *section, rows []any) []any {
	name := nameOf(se.columns)
	rows = slices.DeleteFunc(rows, func(row any) bool {
		return !strings.Contains(strings.ToLower(name.cell(row)), strings.ToLower(t.filter))
	})
	if se.name != t.section().name {
		return rows
	}
	if c, err := se.column(t.sortBy); err == nil {
		slices.SortStableFunc(rows, func(a, b any) int { return compareCells(c, a, b) })
	}
	if t.reverse {
		slices.Reverse(rows)
	}
	return rows
}

// compareCells orders figures from the largest on, and texts by their letters.
func compareCells(c column, a, b any) int {
	x, y := figure(c.raw(a)), figure(c.raw(b))
	switch {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return strings.Compare(c.cell(a), c.cell(b))
}

// print prints a view: all sections for people, and one of them as rows.
func (t *top) print(out io.Writer, v *topView) error {
	doc, err := encode(v)
	if err != nil {
		return err
	}
	if done, err := t.s.structured(out, doc); done {
		return err
	}
	rows := map[string][]any{}
	for i := range sections {
		items, err := t.s.itemsOf(doc, sections[i].name)
		if err != nil {
			return err
		}
		rows[sections[i].name] = t.arrange(&sections[i], items)
	}
	if !t.s.forPeople() {
		se := t.section()
		return t.s.rows(out, doc, rows[se.name], se.columns)
	}
	t.head(out, v)
	for i := range sections {
		se := &sections[i]
		if t.by != "" && t.by != se.name || se.name == keySection && t.hot == nil {
			continue
		}
		if err := t.printSection(out, se, v, rows[se.name]); err != nil {
			return err
		}
	}
	if t.s.to.is {
		fmt.Fprintln(out, "\n"+t.s.to.paint(dim, t.prompt()))
	}
	return nil
}

// head prints the totals.
func (t *top) head(out io.Writer, v *topView) {
	n := v.Totals
	to := &t.s.to
	failed := fmt.Sprintf("%.1f failed/s", n.Failed)
	if n.Failed > 0 {
		failed = to.paint(red, failed)
	}
	fmt.Fprintf(out, "%s  leader %s, %s  %.0f commands/s  p99 %.1f ms  %.1f attempts/s  %s  overdue %.0f s\n",
		to.paint(bold, "Total"), printable(dash(v.Leader)), plural.Of(len(v.Nodes), "node"), n.Commands, n.P99, n.Attempts, failed, n.Overdue)
	fmt.Fprintf(out, "       %s  %s  %s  %s pending  %s\n", plural.Of(int64(n.Messages), "message"), plural.Of(int64(n.Dead), "dead letter"),
		plural.Of(int64(n.Runs), "run"), plural.Of(int64(n.Pending), "request"), humanSize(n.Memory))
}

// overviewRows is the number of rows that a section has beside others.
const overviewRows = 10

func (t *top) printSection(out io.Writer, se *section, v *topView, rows []any) error {
	title := se.title
	switch {
	case se.name == destinationSection && v.Since > 0:
		title += ", of the last 1,000 events (since " + when.data(fmt.Sprint(v.Since)) + ")"
	case se.name == keySection:
		title += ", by MONITOR"
	}
	if t.sortBy != "" && se.name == t.section().name {
		title += ", by " + t.sortBy
	}
	fmt.Fprintln(out, "\n"+t.s.to.paint(bold, title))
	if problem := v.Problems[se.name]; problem != "" {
		fmt.Fprintln(out, printable(problem))
		return nil
	}
	all := len(rows)
	if t.by == "" && all > overviewRows {
		rows = rows[:overviewRows]
	}
	if all == 0 {
		_, err := fmt.Fprintln(out, "none")
		return err
	}
	if err := t.s.table(out, rows, t.s.shown(se.columns)); err != nil {
		return err
	}
	if more := all - len(rows); more > 0 {
		fmt.Fprintf(out, "… %d more: --by %s\n", more, se.name)
	}
	if se.name == nodeSection {
		for _, problem := range v.unreachable {
			fmt.Fprintln(out, printable(problem))
		}
	}
	return nil
}

// prompt is the line that says which keys there are.
func (t *top) prompt() string {
	if t.typing {
		return "filter: " + printable(t.filter) + "_  (Enter keeps it, Esc drops it)"
	}
	line := "n nodes  d databases  t destinations  h hot keys  a all  s sort  r reverse  / filter  k count keys  q quit"
	if t.filter != "" {
		line = "filter: " + printable(t.filter) + "  " + line
	}
	return line
}
