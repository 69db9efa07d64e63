// Package situation reads the cases of make field, judges the plugin's answers about them, and writes the table of cases
// in docs/internals/field.md.
//
// A case is a folder of test/world/field/cases: play.yaml plays a situation on a cluster (see package play), other files have
// the objects that it creates, and expect.yaml has the facts of a good explanation. Facts are regular expressions, not
// sentences, so that the wording may change.
package situation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Case is one situation.
type Case struct {
	// Name is the name of the folder, Dir its path.
	Name string `json:"-"`
	Dir  string `json:"-"`
	// Situation describes the situation in a sentence.
	Situation string `json:"situation"`
	// Sources are URLs of public reports, or the file of the component whose messages are played.
	Sources []string `json:"source"`
	Asks    []Ask    `json:"asks"`
	// Owed is set if the answers lack facts, as known. Once they have all of them, it must go.
	Owed bool `json:"owed,omitempty"`
}

// Ask is a question to the plugin, with the facts of a good answer.
type Ask struct {
	// About is the Job or the owner (cronjob/NAME) to explain; Run is the arguments of another command of the
	// plugin.
	About string `json:"about,omitempty"`
	Run   string `json:"run,omitempty"`
	// Says has the facts that the answer must contain, Never the facts that it must not contain.
	Says  Places `json:"says,omitempty"`
	Never Places `json:"never,omitempty"`
}

// Places are facts, by the part of the answer in which they are searched.
type Places struct {
	// First is the first sentence: the verdict about a Job, or the first paragraph of other answers. The output of
	// why without --full must have these facts, too.
	First []Fact `json:"first,omitempty"`
	// Text is the complete output, with --full.
	Text []Fact `json:"text,omitempty"`
	// Commands are the commands in the advice; Advice is the complete advice. Of an answer that is not about one Job, both
	// are the complete output.
	Commands []Fact `json:"commands,omitempty"`
	Advice   []Fact `json:"advice,omitempty"`
}

// Fact is a fact in an answer. In YAML it is "name: pattern", or a pattern that is its own name.
type Fact struct {
	Name    string
	Pattern *regexp.Regexp
}

// UnmarshalJSON decodes a fact.
func (f *Fact) UnmarshalJSON(data []byte) error {
	var pattern string
	if err := yaml.Unmarshal(data, &pattern); err == nil {
		return f.set(pattern, pattern)
	}
	var named map[string]string
	if err := yaml.Unmarshal(data, &named); err != nil || len(named) != 1 {
		return fmt.Errorf("%s: a fact is a pattern, or one name: pattern", data)
	}
	for name, pattern := range named {
		return f.set(name, pattern)
	}
	return nil
}

func (f *Fact) set(name, pattern string) error {
	var err error
	f.Name = name
	f.Pattern, err = regexp.Compile("(?is)" + pattern)
	return err
}

// Load reads the cases in a folder whose names match, in order.
func Load(folder string, name *regexp.Regexp) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "expect.yaml"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, file := range files {
		dir := filepath.Dir(file)
		if !name.MatchString(filepath.Base(dir)) {
			continue
		}
		c, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c.Name, c.Dir = filepath.Base(dir), dir
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no case of %s matches %q", folder, name)
	}
	return cases, nil
}

func read(file string) (c Case, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return c, err
	}
	return c, c.check()
}

// check returns an error for a case that measures nothing.
func (c Case) check() error {
	switch {
	case !strings.HasSuffix(c.Situation, "."):
		return errors.New("situation is not a sentence")
	case len(c.Sources) == 0:
		return errors.New("no source")
	case len(c.Asks) == 0:
		return errors.New("no asks")
	}
	for _, a := range c.Asks {
		if (a.About == "") == (a.Run == "") {
			return errors.New("an ask has either about or run")
		}
		if a.About != "" && len(a.Says.First) == 0 {
			return fmt.Errorf("about %s: no fact of the first sentence", a.About)
		}
		if a.Run != "" && a.Says.size()+a.Never.size() == 0 {
			return fmt.Errorf("%s: no facts", a.Run)
		}
	}
	return nil
}

func (p Places) size() int { return len(p.First) + len(p.Text) + len(p.Commands) + len(p.Advice) }
