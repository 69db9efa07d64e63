package page

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func parse(t *testing.T, text string) *Page {
	t.Helper()
	p, err := Parse("p.md", text)
	assert.NoError(t, err)
	return p
}

// Issue 7, point 6: blocks are parsed with their directives.
func TestBlocksHaveTheirDirectives(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []Block
	}{
		{"sh", "a\n\n```sh\nkubectl get jobs\n```\nb\n", []Block{{Line: 4, Lang: "sh", Text: "kubectl get jobs\n"}}},
		{"tildes, and shorter fences within", "~~~~ sh title\n~~~\n```\n~~~~\n", []Block{{Line: 2, Lang: "sh", Text: "~~~\n```\n"}}},
		{"in a list", "1. do\n\n   ```sh\n   a \\\n     b\n   ```\n", []Block{{Line: 4, Lang: "sh", Text: "a \\\n  b\n"}}},
		{"no language", "```\nx\n```\n", []Block{{Line: 2, Text: "x\n"}}},
		{"exit code", "<!-- run: exit 3 -->\n```sh\nfalse\n```\n", []Block{{Line: 3, Lang: "sh", Text: "false\n", Run: Run{Code: 3}}}},
		{"until", "<!-- run: until \"it \\\"runs\\\"\" -->\n```sh\nx\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{Until: `it "runs"`}}}},
		{"view", "<!-- run: view -->\n```sh\nx\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{View: true}}}},
		{"view of something", "<!-- run: view \"Jobs\" -->\n```sh\nx\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{View: true, Frame: "Jobs"}}}},
		{"two directives", "<!-- run: view -->\n<!-- run: exit 130 -->\n```sh\nx\n```\n", []Block{{Line: 4, Lang: "sh", Text: "x\n", Run: Run{View: true, Code: 130}}}},
		{"not here", "<!-- run: not here: it needs a registry -->\n```sh\nx\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{Elsewhere: "it needs a registry"}}}},
		{"for Windows", "```powershell\nx\n```\n", []Block{{Line: 2, Lang: "powershell", Text: "x\n", Run: Run{Elsewhere: "there is no PowerShell"}}}},
		{"for zsh", "```zsh\nx\n```\n", []Block{{Line: 2, Lang: "zsh", Text: "x\n"}}},
		{"archives", "<!-- run: as written with the archives of make snapshot -->\n```sh\nx\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{Archives: true}}}},
		{"file", "<!-- file: dir/job.yaml -->\n```yaml\na: b\n```\n", []Block{{Line: 3, Lang: "yaml", Text: "a: b\n", File: "dir/job.yaml"}}},
		{"output", "<!-- output of: status x -->\n```\n$ kubectl batchjob status x\n$ more\n```\n", []Block{{Line: 3, Text: "$ kubectl batchjob status x\n$ more\n", Output: true}}},
		{"a directive is for one block", "<!-- run: exit 3 -->\n```sh\nx\n```\n```sh\ny\n```\n", []Block{{Line: 3, Lang: "sh", Text: "x\n", Run: Run{Code: 3}}, {Line: 6, Lang: "sh", Text: "y\n"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range tc.want {
				tc.want[i].Page = "p.md"
			}
			assert.DeepEqual(t, parse(t, tc.text).Blocks, tc.want)
		})
	}
}

// Issue 7, point 6: an unknown directive is an error, not a comment.
func TestUnknownDirectivesAreErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"<!-- run: slowly -->\n```sh\nx\n```\n", `p.md:1: unknown directive "slowly"`},
		{"<!-- ran: exit 3 -->\n```sh\nx\n```\n", `p.md:1: "ran" is no directive`},
		{"<!-- run: exit 0 -->\n```sh\nx\n```\n", `"0" is no exit code of a failure`},
		{"<!-- run: exit three -->\n```sh\nx\n```\n", `"three" is no exit code`},
		{"<!-- run: until Ready -->\n```sh\nx\n```\n", `until wants`},
		{"<!-- run: view Ready -->\n```sh\nx\n```\n", `view wants`},
		{"<!-- run: not here -->\n```sh\nx\n```\n", `needs a reason`},
		{"<!-- run: not here: no -->\n```sh\nx\n```\n", `needs a reason`},
		{"<!-- run: exit 3 -->\n\n```sh\nx\n```\n", `p.md:2: the directive before is for no block`},
		{"<!-- run: exit 3 -->\n```yaml\nx\n```\n", `p.md:2: a block of "yaml" is not run`},
		{"<!-- file: x.yaml -->\n```sh\nx\n```\n", `a block of commands is no file`},
		{"<!-- file: ../x.yaml -->\n```yaml\nx\n```\n", `no name of a file`},
		{"```bash\nx\n```\n", `a block of bash cannot be run`},
		{"<!-- output of: x -->\n```sh\nx\n```\n", `without an info string`},
		{"a\n```sh\nx\n", `p.md:2: the block has no end`},
	} {
		if _, err := Parse("p.md", tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

// Issue 7, point 6: lines with a prompt are input, the others are output.
func TestLinesWithAPromptAreCommands(t *testing.T) {
	p := parse(t, "```console\n$ a \\\n    --long\nout \\\n$ cat <<EOF\n> text\n> EOF\n> no prompt's\nlast\n```\n")
	want := []Command{{2, "a \\\n    --long\n"}, {5, "cat <<EOF\ntext\nEOF\nno prompt's\n"}}
	assert.DeepEqual(t, p.Blocks[0].Commands(), want)
	p = parse(t, "<!-- output of: x -->\n```\n$ first\n\n$ told of\n```\n")
	assert.DeepEqual(t, p.Blocks[0].Commands(), []Command{{3, "first\n"}}, "of an output")
}

// Issue 7, point 6: anchors and links are parsed as on GitHub.
func TestLinksAndAnchorsAreReadAsOnGitHub(t *testing.T) {
	p := parse(t, "# `a-b`: What's _new_, \"here\"?\n## Twice\n### Twice ##\n## [A link](x) & more\n"+
		"see [one](two.md#three), `[code](no)`,\n[over\nlines](four.md \"title\")\n[![alt text](i.svg)](five.md)\n"+
		"<img src=\"j.png\" alt=\"a picture\">\n\n[ref]: six.md\n```\n[block](no)\n```\n")
	want := []Link{
		{Line: 4, Target: "x"},
		{Line: 5, Target: "two.md#three"},
		{Line: 6, Target: "four.md"},
		{Line: 8, Target: "five.md"},
		{Line: 8, Target: "i.svg", Image: true, Alt: "alt text"},
		{Line: 11, Target: "six.md"},
		{Line: 9, Target: "j.png", Image: true, Alt: "a picture"},
	}
	got := p.Links()
	for i := range got {
		if !got[i].Image {
			got[i].Alt = ""
		}
	}
	assert.DeepEqual(t, got, want)
	var anchors []string
	for a := range p.Anchors() {
		anchors = append(anchors, a)
	}
	slices.Sort(anchors)
	if want := []string{"a-b-whats-_new_-here", "a-link--more", "twice", "twice-1"}; !slices.Equal(anchors, want) {
		t.Errorf("anchors %q, want %q", anchors, want)
	}
}

func TestIndentedLinesAreFound(t *testing.T) {
	p := parse(t, "text\n\n    make up\n\n    more\ntext\n    goes on\n- list\n")
	if want := map[int]string{3: "make up", 5: "more"}; !reflect.DeepEqual(p.Indented, want) {
		t.Errorf("got %v, want %v", p.Indented, want)
	}
}
