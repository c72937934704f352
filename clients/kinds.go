package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Kind is a kind of token, and how the client meets it.
type Kind struct {
	Name string
	// Path is the path of the database, or "" for the default one.
	Path string
	// Token opens the database; ReadOnly says that it only reads, and Standard is then one
	// that writes.
	Token    string
	ReadOnly bool
	Standard string
}

// Run runs the program for tokens of this kind against the nodes at urls.
func (k Kind) Run(ctx context.Context, urls []string) (output []byte, err error) {
	bases := make([]string, len(urls))
	for i, url := range urls {
		bases[i] = url + k.Path
	}
	if k.ReadOnly {
		return ReadOnly(ctx, bases, k.Token, k.Standard)
	}
	return Redis(ctx, bases, k.Token)
}

// userPassword is the password of the users that Kinds makes.
const userPassword = "a password of some length"

// Kinds returns all kinds of tokens: Standard, Read Only and an ACL user's, of the
// default database and of another. It makes the users and the database through the
// node at url.
func Kinds(ctx context.Context, url, standard, readOnly, admin string) ([]Kind, error) {
	var made struct{ Path, Token, ReadonlyToken string }
	if err := post(ctx, url+"/admin/databases", admin, map[string]string{"name": "clients"}, http.StatusCreated, &made); err != nil {
		return nil, err
	}
	var all []Kind
	for _, d := range []struct{ name, path, standard, readOnly string }{
		{"default", "", standard, readOnly}, {"clients", made.Path, made.Token, made.ReadonlyToken},
	} {
		user, err := restToken(ctx, url+d.path, d.standard)
		if err != nil {
			return nil, err
		}
		all = append(all,
			Kind{Name: d.name + " standard", Path: d.path, Token: d.standard},
			Kind{Name: d.name + " user", Path: d.path, Token: user},
			Kind{Name: d.name + " read only", Path: d.path, Token: d.readOnly, ReadOnly: true, Standard: d.standard})
	}
	return all, nil
}

// restToken makes a user who may do what the client's program does.
func restToken(ctx context.Context, url, standard string) (string, error) {
	var reply struct{ Result string }
	user := []string{"ACL", "SETUSER", "client", "on", ">" + userPassword, "~client-test:*", "&*", "+@all", "-@admin"}
	if err := post(ctx, url, standard, user, http.StatusOK, &reply); err != nil {
		return "", err
	}
	err := post(ctx, url, standard, []string{"ACL", "RESTTOKEN", "client", userPassword}, http.StatusOK, &reply)
	return reply.Result, err
}

// post posts JSON and reads the reply, of that status, into it.
func post(ctx context.Context, url, token string, body any, status int, reply any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != status {
		return fmt.Errorf("clients: %s %.40s: %s %s", url, text, res.Status, b)
	}
	return json.Unmarshal(b, reply)
}
