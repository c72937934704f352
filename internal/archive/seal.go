package archive

import (
	"errors"
	"fmt"
	"io"
	"os"

	"filippo.io/age"
)

// Recipients reads the public keys for which backups are encrypted from a file of age: one key a line (`age-keygen` prints one).
func Recipients(path string) ([]age.Recipient, error) {
	return read(path, "recipients", age.ParseRecipients)
}

// Identities open what was sealed for them, from a file that `age-keygen` wrote.
func Identities(path string) ([]age.Identity, error) { return read(path, "keys", age.ParseIdentities) }

func read[K any](path, what string, parse func(io.Reader) ([]K, error)) ([]K, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("archive: open the %s: %w", what, err)
	}
	defer file.Close()
	all, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("archive: read the %s in %s: %w", what, path, err)
	}
	return all, nil
}

// seal has write write through age, if there are recipients.
func seal(w io.Writer, to []age.Recipient, write func(io.Writer) error) error {
	if len(to) == 0 {
		return write(w)
	}
	sealed, err := age.Encrypt(w, to...)
	if err != nil {
		return fmt.Errorf("archive: seal: %w", err)
	}
	if err := write(sealed); err != nil {
		return err
	}
	return sealed.Close()
}

// errNoKey says that an encrypted backup is read without a key.
var errNoKey = errors.New("archive: the backup is encrypted: --key-file names the key that opens it")

// Unseal reads what was sealed. The error says so if none of the identities can open it, or there are none.
func Unseal(r io.Reader, by []age.Identity) (io.Reader, error) {
	if len(by) == 0 {
		return nil, errNoKey
	}
	opened, err := age.Decrypt(r, by...)
	if err != nil {
		return nil, fmt.Errorf("archive: open the backup: %w", err)
	}
	return opened, nil
}
