package layout

import (
	"fmt"
	"slices"
	"strings"
)

// Check returns why f may not import a folder, or "" if it may.
func Check(f File, folder string) string {
	rule := RuleOf(f.Folder)
	if rule == nil {
		return fmt.Sprintf("%s: no rule covers the folder %s. Add it to Rules in internal/layout/rules.go", f.Path, f.Folder)
	}
	if f.Folder == folder || matches(rule.May, folder) || sameRule(rule, folder) {
		return supportInProduct(f, folder)
	}
	if matches(SupportMay[f.Folder], folder) {
		return ""
	}
	if f.Test && (matches(Support, folder) || matches(rule.Tests, folder)) {
		return ""
	}
	return fmt.Sprintf("%s imports %s, which %s may not (internal/layout/rules.go)", f.Path, folder, rule.Folder)
}

// CheckLibrary returns why f may not import a package from elsewhere, or "" if it may.
func CheckLibrary(f File, path string) string {
	for library, folders := range Libraries {
		if covers(library+"/...", path) && !matches(folders, f.Folder) {
			return fmt.Sprintf("%s imports %s, which only %s may (internal/layout/rules.go)", f.Path, path, strings.Join(folders, ", "))
		}
	}
	return ""
}

// supportInProduct refuses packages of tests in files of the product.
func supportInProduct(f File, folder string) string {
	if f.Test || matches(Support, f.Folder) || !matches(Support, folder) || harness(f.Folder) {
		return ""
	}
	return fmt.Sprintf("%s imports %s, which is for tests", f.Path, folder)
}

// harness reports whether a folder is itself for testing or measuring.
func harness(folder string) bool {
	top, _, _ := strings.Cut(folder, "/")
	return slices.Contains([]string{"jepsen", "bench", "clients"}, top)
}

// sameRule reports whether folder is one that rule covers: packages of one rule may
// import each other.
func sameRule(rule *Rule, folder string) bool { return RuleOf(folder) == rule }

// RuleOf returns the rule with the longest folder that covers folder, or nil.
func RuleOf(folder string) *Rule {
	var best *Rule
	for i := range Rules {
		r := &Rules[i]
		if covers(r.Folder+"/...", folder) && (best == nil || len(r.Folder) > len(best.Folder)) {
			best = r
		}
	}
	return best
}
