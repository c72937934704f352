package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// envPrefix starts the environment variable of every flag: --data-dir is
// TRIREME_DATA_DIR.
const envPrefix = "TRIREME_"

// keyDelimiter separates nested keys in koanf. Flags have no nested keys, so it is a
// character that no key of a file contains.
const keyDelimiter = "\x00"

// load fills the flags that the command line did not set: from the environment, then
// from the YAML file named by --config. A flag overrides its variable, a variable the
// file, the file the default.
func load(flags *pflag.FlagSet) error {
	fromEnv := koanf.New(keyDelimiter)
	if err := fromEnv.Load(env.Provider(keyDelimiter, env.Opt{Prefix: envPrefix, TransformFunc: flagOfVariable(flags)}), nil); err != nil {
		return err
	}
	if err := fill(flags, fromEnv, func(name string) string { return "the variable " + variableOf(name) }); err != nil {
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

// flagOfVariable returns a function that maps a variable to its flag. It ignores empty
// variables and those without a flag (credentials, those of client commands).
func flagOfVariable(flags *pflag.FlagSet) func(key, value string) (string, any) {
	return func(key, value string) (string, any) {
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, envPrefix), "_", "-"))
		if flags.Lookup(name) == nil || value == "" {
			return "", nil
		}
		return name, value
	}
}

// readFile reads a YAML file. It refuses a key that is not a flag, because a mistyped
// setting must not be ignored silently.
func readFile(flags *pflag.FlagSet, path string) (*koanf.Koanf, error) {
	k := koanf.New(keyDelimiter)
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		var reason *fs.PathError
		if errors.As(err, &reason) {
			return nil, usagef("can't read the file of --config: %w", reason)
		}
		return nil, usagef("%s is not a YAML file of settings: %w", path, err)
	}
	for key := range k.Raw() {
		if flags.Lookup(key) == nil || key == "config" {
			return nil, usagef("%s: there is no setting named %q", path, key)
		}
	}
	return k, nil
}

// fill sets every flag that is not set yet from k.
func fill(flags *pflag.FlagSet, k *koanf.Koanf, source func(name string) string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Changed || !k.Exists(f.Name) {
			return
		}
		if err := flags.Set(f.Name, flagText(k.Get(f.Name))); err != nil {
			failed = usagef("%s: %w", source(f.Name), errors.Unwrap(err))
			if errors.Unwrap(err) == nil {
				failed = usagef("%s: %w", source(f.Name), err)
			}
		}
	})
	return failed
}

// flagText converts a value of a file to the syntax of the command line: a list to
// comma-separated values, a map to NAME=VALUE pairs.
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
