package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// contextsVariable names another file of contexts.
const contextsVariable = "TRIREME_CONTEXTS"

// namedContext holds the address and the credentials with which a user reaches a cluster.
type namedContext struct {
	Name     string `yaml:"name" json:"name"`
	URL      string `yaml:"url" json:"url"`
	Token    string `yaml:"token,omitempty" json:"-"`
	CA       string `yaml:"ca,omitempty" json:"ca,omitempty"`
	Database string `yaml:"database,omitempty" json:"database,omitempty"`
}

// contexts is the content of the file of contexts.
type contexts struct {
	Current  string         `yaml:"current,omitempty"`
	Contexts []namedContext `yaml:"contexts"`
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// contextsPath returns the path of the file of contexts, or "" without a configuration directory: a service needs no contexts.
func contextsPath() string {
	if path := os.Getenv(contextsVariable); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "trireme", "contexts.yaml")
}

// loadContexts reads the file; without one there are no contexts. A file that others can read is refused: it has tokens.
func loadContexts() (*contexts, string, error) {
	all := &contexts{}
	path := contextsPath()
	info, err := os.Stat(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return all, path, nil
	}
	if err != nil {
		return nil, "", Usagef("can't read the file of contexts: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, "", Usagef("%s has tokens and the mode %04o: run chmod 600 %s", path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", Usagef("can't read the file of contexts: %w", err)
	}
	if err := yaml.Unmarshal(text, all); err != nil {
		return nil, "", Usagef("%s is not a file of contexts: %w", path, err)
	}
	return all, path, nil
}

// save writes the file anew: it is whole at any time, and readable by its owner only.
func (c *contexts) save(path string) error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if path == "" {
		return Usagef("HOME is not set, so there is no configuration directory: set %s to the file of contexts", contextsVariable)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("can't write the file of contexts: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("can't write the file of contexts: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("can't write the file of contexts: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

func (c *contexts) find(name string) (*namedContext, error) {
	if i := c.index(name); i >= 0 {
		return &c.Contexts[i], nil
	}
	var names []string
	for _, n := range c.Contexts {
		names = append(names, n.Name)
	}
	if hint := didYouMean("", nearest(name, names)); hint != "" {
		return nil, errorf(ExitUnknown, "there is no context %q%s", name, hint)
	}
	return nil, errorf(ExitUnknown, "there is no context %q: trireme context list shows them, trireme context add creates one", name)
}

func (c *contexts) index(name string) int {
	return slices.IndexFunc(c.Contexts, func(n namedContext) bool { return n.Name == name })
}

// put adds a context, or replaces the one of its name; the first is the current one.
func (c *contexts) put(n namedContext) {
	if i := c.index(n.Name); i >= 0 {
		c.Contexts[i] = n
	} else {
		c.Contexts = append(c.Contexts, n)
	}
	if c.Current == "" {
		c.Current = n.Name
	}
}

func (c *contexts) remove(name string) {
	c.Contexts = slices.DeleteFunc(c.Contexts, func(n namedContext) bool { return n.Name == name })
	if c.Current == name {
		c.Current = ""
	}
}
