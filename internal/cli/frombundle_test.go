package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/clitest"
)

// Every verb that reads a bundle names the file that it cannot read, and the reason.
func TestVerbsRefuseDamagedBundles_BUN_08(t *testing.T) {
	api := clitest.NewExplained(t)
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.tar.gz")
	if got := program.Run(t, api.API, "bundle", "train", "-o", whole); got.Code != 0 {
		t.Fatal(got.ErrOut)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(data)
	changed[len(data)/2] ^= 0xff
	manifest := clitest.WriteManifest(t, simpleManifest)
	for name, damaged := range map[string][]byte{"truncated": data[:len(data)/2], "changed": changed, "empty": nil, "text": []byte("hello\n")} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"why --from FILE", "watch --plain --replay FILE", "what-if train --set backoffLimit=3 --from FILE", "simulate -f MANIFEST --pods-from FILE"} {
			got := program.Run(t, nil, strings.Fields(strings.NewReplacer("FILE", file, "MANIFEST", manifest).Replace(args))...)
			if got.Code != 1 || got.Out != "" || !strings.Contains(got.ErrOut, file+": ") || strings.Contains(got.ErrOut, "panic") {
				t.Errorf("%s, %s: exit %d, %q, %q", name, args, got.Code, got.Out, got.ErrOut)
			}
		}
	}
}
