package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Every text to replace occurs once in its file. If you move such a text, update mutants.txt too. PRV-08: each bug
// names a world, or the reason why no world has it.
func TestTextsToReplaceAreInTheCode(t *testing.T) {
	subtle, err := os.ReadFile("subtle.txt")
	assert.NoError(t, err)
	mutants, err := parse(text + "\n" + string(subtle))
	assert.NoError(t, err)
	if len(mutants) < 150 {
		t.Errorf("%d bugs; there were more", len(mutants))
	}
	ids := regexp.MustCompile(`^[A-Z]{3}-\d\d( [A-Z]{3}-\d\d)*$`)
	seen := map[string]bool{}
	for _, m := range mutants {
		source, err := os.ReadFile("../../" + m.file)
		if err != nil {
			t.Errorf("%s: %v", m.name(), err)
			continue
		}
		if changed, err := m.apply(string(source)); err != nil {
			t.Error(err)
		} else if changed == string(source) {
			t.Errorf("%s: nothing changes", m.name())
		}
		if (m.world == "") == (m.outside == "") {
			t.Errorf("%s: name either a world in which make prove finds it, or the reason why no world has it", m.name())
		}
		if !ids.MatchString(m.ids) || seen[m.name()] {
			t.Errorf("%q are no ids, or it is there twice", m.name())
		}
		seen[m.name()] = true
	}
}

func TestTableIsParsed(t *testing.T) {
	mutants, err := parse("# comment\n\nREG-01 TRK-02: does\nsome/file.go\nworld: one pod, one fault\n-\ta\n-\t\tb\n+\tc\n\nREG-02: drops\nother.go\n-\td\n")
	if err != nil || len(mutants) != 2 {
		t.Fatalf("%v, %v", mutants, err)
	}
	if m := mutants[0]; m.name() != "REG-01 TRK-02: does" || m.file != "some/file.go" || m.old != "a\n\tb" || m.new != "c" || m.world != "one pod, one fault" {
		t.Errorf("%+v", m)
	}
	if out, err := mutants[0].apply("x a\n\tb y"); err != nil || out != "x c y" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := mutants[1].apply("d d"); err == nil {
		t.Errorf("twice: %q", out)
	}
	for _, wrong := range []string{"no title\nfile\n-\ta", "A: b\nfile\n", "A: b\nfile\nsomething\n-\ta"} {
		if _, err := parse(wrong); err == nil || strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%q is read", wrong)
		}
	}
}
