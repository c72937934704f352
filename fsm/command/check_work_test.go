package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestChecksOfUsersArePriced: of every row that names keys or channels, the check of a user with many patterns is paid for
// before it is made, and refused above the budget; of every row that reads or changes users, the user's rules are.
func TestChecksOfUsersArePriced(t *testing.T) {
	tx := testTx(nil, RESP)
	table := tx.Table
	rules := []string{"on", "nopass", "+@all"}
	for i := range 500 {
		rules = append(rules, fmt.Sprintf("~*k%d?", i), fmt.Sprintf("&*c%d?", i))
	}
	if err := tx.Users.SetUser("u", rules); err != nil {
		t.Fatal(err)
	}
	tx.User = tx.Users.User("u")
	checked := 0
	for _, c := range table.Rows() {
		argv := words(c.Name)
		for len(argv) < max(c.Arity, -c.Arity) {
			argv = append(argv, []byte("1"))
		}
		call := tx.call(c, argv)
		names := len(call.Keys) + len(call.Channels)
		if c.Flags&NoAuth != 0 {
			continue
		}
		tx.Limits, tx.work = Limits{MaxWork: 100}, work{}
		_, refusal := table.Check(tx, argv)
		if over := refusal != nil && strings.Contains(refusal.Text(), "max request work exceeded"); over != (names > 0) {
			t.Errorf("%s with %d names, at a budget of 100: %v", c.Name, names, refusal)
		}
		tx.Limits, tx.work = Limits{}, work{}
		if table.Check(tx, argv); tx.work.used < int64(1000*names) {
			t.Errorf("%s: checking %d names with 1000 patterns counts as %d steps", c.Name, names, tx.work.used)
		}
		checked += names
	}
	if checked < 200 {
		t.Fatalf("only %d names were checked", checked)
	}
	for _, line := range []string{"acl setuser u off", "acl getuser u", "acl list", "acl users", "acl dryrun u get k"} {
		tx.work, tx.User = work{}, tx.Users.User("default")
		if v := tx.do(line); tx.work.used < 1000 {
			t.Errorf("%s counts as %d steps of work: %v", line, tx.work.used, v)
		}
		bounded := testTx(tx.User, RESP)
		bounded.Users, bounded.Bounded = tx.Users, true
		if bounded.do(line); !bounded.OverBudget && !strings.HasPrefix(line, "acl setuser") {
			t.Errorf("%s keeps writes waiting", line)
		}
	}
}
