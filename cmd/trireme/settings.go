package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/trireme-dev/trireme/cli"
	"go.yaml.in/yaml/v3"
)

// envPrefix starts the environment variable of every flag: --data-dir is
// TRIREME_DATA_DIR.
const envPrefix = "TRIREME_"

// load fills the flags that the command line did not set: from the environment, then
// from the YAML file named by --config. A flag overrides its variable, a variable the
// file, the file the default.
func load(flags *pflag.FlagSet) error {
	if err := fill(flags, variables(flags), func(name string) string { return "the variable " + variableOf(name) }); err != nil {
		return err
	}
	path, err := flags.GetString("config")
	if err != nil || path == "" {
		return err
	}
	fromFile, err := readFile(flags, path)
	if err != nil {
		return err
	}
	return fill(flags, fromFile, func(name string) string { return fmt.Sprintf("%s in %s", name, path) })
}

func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// variables returns the values of flags that the environment has. An empty variable is none.
func variables(flags *pflag.FlagSet) map[string]any {
	found := map[string]any{}
	flags.VisitAll(func(f *pflag.Flag) {
		if value := os.Getenv(variableOf(f.Name)); value != "" {
			found[f.Name] = value
		}
	})
	return found
}

// readFile reads a YAML file. It refuses a key that is not a flag, because a mistyped
// setting must not be ignored silently.
func readFile(flags *pflag.FlagSet, path string) (map[string]any, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.Usagef("can't read the file of --config: %w", err)
	}
	found := map[string]any{}
	if err := yaml.Unmarshal(b, &found); err != nil {
		return nil, cli.Usagef("%s is not a YAML file of settings: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if flags.Lookup(key) == nil || key == "config" {
			return nil, cli.Usagef("%s: there is no setting named %q", path, key)
		}
	}
	return found, nil
}

// fill sets every flag that is not set yet and has a value.
func fill(flags *pflag.FlagSet, values map[string]any, source func(name string) string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		value, found := values[f.Name]
		if failed != nil || f.Changed || !found {
			return
		}
		if err := flags.Set(f.Name, flagText(value)); err != nil {
			failed = cli.Usagef("%s: %w", source(f.Name), errors.Unwrap(err))
			if errors.Unwrap(err) == nil {
				failed = cli.Usagef("%s: %w", source(f.Name), err)
			}
		}
	})
	return failed
}

// flagText converts a value of a file to the syntax of the command line, a list to
// comma-separated values.
func flagText(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = flagText(item)
		}
		return strings.Join(parts, ",")
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// secretVariable returns the value of a credential's variable, or the contents of the file that NAME_FILE names.
func secretVariable(name string) (string, error) {
	return readSecret(name, os.Getenv(name), os.Getenv(name+"_FILE"))
}
