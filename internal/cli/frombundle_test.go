package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Every verb that reads a bundle names the file that it cannot read, and the reason.
// Requirements: BUN-08
func TestVerbsRefuseDamagedBundles(t *testing.T) {
	api := clitest.NewExplained(t)
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.tar.gz")
	if got := program.Run(t, api.API, "bundle", "train", "-f", whole); got.Code != 0 {
		t.Fatal(got.ErrOut)
	}
	data, err := os.ReadFile(whole)
	assert.NoError(t, err)
	changed := bytes.Clone(data)
	changed[len(data)/2] ^= 0xff
	manifest := clitest.WriteManifest(t, simpleManifest)
	for name, damaged := range map[string][]byte{"truncated": data[:len(data)/2], "changed": changed, "empty": nil, "text": []byte("hello\n")} {
		file := filepath.Join(folder, name)
		assert.NoError(t, os.WriteFile(file, damaged, 0o600))
		for _, args := range []string{"why --from FILE", "watch --plain --from FILE", "watch --plain --replay FILE", "status --from FILE", "what-if train --set backoffLimit=3 --from FILE", "simulate -f MANIFEST --from FILE"} {
			got := program.Run(t, nil, strings.Fields(strings.NewReplacer("FILE", file, "MANIFEST", manifest).Replace(args))...)
			if got.Code != 1 || got.Out != "" || !strings.Contains(got.ErrOut, file+": ") || strings.Contains(got.ErrOut, "panic") {
				t.Errorf("%s, %s: exit %d, %q, %q", name, args, got.Code, got.Out, got.ErrOut)
			}
		}
	}
}

// Requirements: BUN-08. Each verb that reads a bundle reads a recording as well.
func TestVerbsReadBundlesAndRecordings(t *testing.T) {
	api := clitest.NewExplained(t)
	folder := t.TempDir()
	whole, recording := filepath.Join(folder, "whole.tar.gz"), filepath.Join(folder, "train.jsonl")
	if got := program.Run(t, api.API, "bundle", "train", "-f", whole); got.Code != 0 {
		t.Fatal(got.ErrOut)
	}
	data, err := os.ReadFile(whole)
	assert.NoError(t, err)
	recorded, err := bundle.Recording(bytes.NewReader(data))
	if err == nil {
		err = os.WriteFile(recording, recorded, 0o600)
	}
	assert.NoError(t, err)
	for _, file := range []string{whole, recording} {
		for args, want := range map[string]string{
			"why --from FILE": "train failed", "why train --from FILE": "train failed", "status --from FILE": "train", "status train --from FILE": "train",
			"watch --plain --from FILE": "train", "what-if train --set backoffLimit=3 --from FILE": "utcome",
		} {
			program.Run(t, nil, strings.Fields(strings.ReplaceAll(args, "FILE", file))...).Prints(t, 0, want)
		}
		for _, args := range []string{"why other --from FILE", "status other --from FILE"} {
			program.Run(t, nil, strings.Fields(strings.ReplaceAll(args, "FILE", file))...).Want(t, 1, "")
		}
	}
	program.Run(t, nil, "why", "--index", "0", "--from", recording).Want(t, 2, "", "require a bundle")
	program.Run(t, nil, "status", "-w", "--from", whole).Want(t, 2, "", "--from summarizes one Job")
}

// -o is a format in each verb; bundle accepts a file for one release.
// Requirements: BUN-01
func TestBundleNamesItsFileWithF(t *testing.T) {
	api := clitest.NewExplained(t)
	file := filepath.Join(t.TempDir(), "x")
	if got := program.Run(t, api.API, "bundle", "train", "-o", file); got.Code != 0 || !strings.Contains(got.ErrOut, "use -f FILE") {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
	if got := program.Run(t, api.API, "bundle", "train", "-o", "json"); got.Code != 2 || !strings.Contains(got.ErrOut, "no output format; name the file with -f") {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
}
