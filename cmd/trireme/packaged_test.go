package main

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

var (
	withDefault = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`)
	drawn       = regexp.MustCompile(`\$SERVICE_PASSWORD_64_(\w+)`) // by Coolify
	assigned    = regexp.MustCompile(`\b(TRIREME_\w+)=(\S*)`)
)

// packaged sets the variables that a package for one node gives it, at the script's ports H, C and R.
//
//	packaged FILE
func packaged(ts *testscript.TestScript, _ bool, args []string) {
	for name := range strings.FieldsSeq(ts.Getenv("PACKAGED")) {
		ts.Setenv(name, "")
	}
	ports := strings.NewReplacer(":8080", ":"+ts.Getenv("H"), ":7080", ":"+ts.Getenv("C"), ":6379", ":"+ts.Getenv("R"))
	names := []string{}
	for name, value := range packagedVariables(ts, args[0]) { // unordered: one variable each
		value = withDefault.ReplaceAllString(value, "$1")
		value = drawn.ReplaceAllString(value, "drawn-by-coolify-for-$1")
		ts.Setenv(name, ports.Replace(value))
		names = append(names, name)
	}
	if len(names) < 8 {
		ts.Fatalf("%s has only the variables %v", args[0], names)
	}
	ts.Setenv("PACKAGED", strings.Join(names, " "))
	ts.Setenv("TRIREME_URL", "http://127.0.0.1:"+ts.Getenv("H"))
}

// packagedVariables reads them from a compose file, or from what a script would do.
func packagedVariables(ts *testscript.TestScript, file string) map[string]string {
	all := map[string]string{}
	if strings.HasSuffix(file, ".sh") {
		c := exec.Command(file, "app", "image")
		c.Env = append(os.Environ(), "DRY_RUN=1")
		text, err := c.Output()
		ts.Check(err)
		for _, m := range assigned.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = m[2]
		}
		return all
	}
	text, err := os.ReadFile(file)
	ts.Check(err)
	var tree struct {
		Services map[string]struct{ Environment yaml.Node }
	}
	ts.Check(yaml.Unmarshal(text, &tree))
	environment := tree.Services["trireme"].Environment
	if environment.Kind == yaml.MappingNode {
		ts.Check(environment.Decode(&all))
		return all
	}
	var list []string
	ts.Check(environment.Decode(&list))
	for _, one := range list {
		if name, value, found := strings.Cut(one, "="); found {
			all[name] = cmp.Or(value, all[name])
		}
	}
	return all
}
