package page

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Page is a Markdown file.
type Page struct {
	// Path is relative to the project, with slashes.
	Path     string
	Blocks   []Block
	Headings []string
	// Prose is the text without blocks: their lines are empty, so that line numbers match the file.
	Prose string
	// Indented are the lines of indented blocks, by line number.
	Indented map[int]string
}

// Block is a fenced block.
type Block struct {
	// Page is the page's Path, Line the number of the block's first line of text.
	Page string
	Line int
	// Section is the second-level heading above the block.
	Section string
	// Lang is the first word of the info string.
	Lang string
	Text string
	Run  Run
	// File is the name of the file that the text is saved as, or "".
	File string
	// Output reports whether hack/explaindoc.sh writes the block.
	Output bool
}

// Run specifies how a block of commands is run.
type Run struct {
	// Code is the exit code of the last command.
	Code int
	// Until is output at which the last command is interrupted; "" if the command ends by itself.
	Until string
	// View reports whether a command opens an interactive view; Frame is text that the view shows.
	View  bool
	Frame string
	// Elsewhere is the reason why no test can run the block, or "".
	Elsewhere string
	// Archives reports whether downloads of a release come from dist.
	Archives bool
}

// Command is one line of shell input, or several lines that form one command.
type Command struct {
	Line int
	Text string
}

// windows is the shell that no test can run.
const windows = "powershell"

// IsForeign reports whether the block is for another shell than bash: zsh and fish run it if they are installed.
func (b Block) IsForeign() bool { return b.Lang == "zsh" || b.Lang == "fish" || b.Lang == windows }

// isMisnamed reports whether the block is for a shell, but must be named sh or console.
func (b Block) isMisnamed() bool {
	return slices.Contains([]string{"bash", "shell", "shell-session", "cmd", "bat"}, b.Lang)
}

// IsCommands reports whether the block is the input of a shell.
func (b Block) IsCommands() bool {
	return b.Lang == "sh" || b.Lang == "console" || b.Output || b.IsForeign() || b.isMisnamed()
}

// Where returns the position of the block's first line.
func (b Block) Where() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Commands returns the commands of a console block; the input of a shell is returned as one piece, to be cut by a shell.
func (b Block) Commands() []Command {
	if b.Lang != "console" && !b.Output {
		return []Command{{b.Line, b.Text}}
	}
	lines := strings.Split(b.Text, "\n")
	if b.Output {
		lines = lines[:1] // What follows is output, even if it mentions commands.
	}
	var commands []Command
	open := false // The previous line belongs to a command.
	for i, line := range lines {
		if input, begins := strings.CutPrefix(line, "$ "); begins {
			commands = append(commands, Command{b.Line + i, input + "\n"})
			open = true
			continue
		}
		if !open {
			continue
		}
		last := &commands[len(commands)-1]
		more, continues := strings.CutPrefix(line, "> ")
		if open = continues || strings.HasSuffix(last.Text, "\\\n"); open {
			last.Text += more + "\n"
		}
	}
	return commands
}

var (
	fence     = regexp.MustCompile("^( {0,6})(`{3,}|~{3,})\\s*([^`]*)$")
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	directive = regexp.MustCompile(`^\s*<!--\s*(run|file|output of):\s*(.*?)\s*-->\s*$`)
	comment   = regexp.MustCompile(`^\s*<!--\s*([\w ]+):`)
)

// Read reads a file of the project at root.
func Read(root, path string) (*Page, error) {
	data, err := os.ReadFile(root + "/" + path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(data))
}

// Parse parses Markdown. It returns errors in directives, with their position.
func Parse(path, text string) (*Page, error) {
	r := reader{page: &Page{Path: path, Indented: map[int]string{}}}
	blank := true
	for i, line := range strings.Split(text, "\n") {
		if err := r.line(i+1, line, blank); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		blank = strings.TrimSpace(line) == "" || blank && r.page.Indented[i+1] != ""
	}
	if r.open != "" {
		return nil, fmt.Errorf("%s:%d: the block has no end", path, r.block.Line-1)
	}
	return r.page, nil
}

// reader is the state of the parser between two lines.
type reader struct {
	page  *Page
	block Block
	// open is the fence of the current block, margin the text before the fence.
	open, margin string
	// section is the last second-level heading.
	section string
	// directed reports whether the previous line is a directive for the block.
	directed bool
}

func (r *reader) line(number int, line string, afterBlank bool) error {
	if r.open != "" {
		r.inside(line)
		return nil
	}
	if match := fence.FindStringSubmatch(line); match != nil {
		lang, _, _ := strings.Cut(match[3], " ")
		r.open, r.margin = match[2], match[1]
		r.block.Page, r.block.Section, r.block.Line, r.block.Lang = r.page.Path, r.section, number+1, strings.TrimSpace(lang)
		if r.block.Lang == windows && r.block.Run == (Run{}) {
			r.block.Run.Elsewhere = "there is no PowerShell"
		}
		r.page.Prose += "\n"
		r.directed = false
		return r.fits()
	}
	if match := directive.FindStringSubmatch(line); match != nil {
		r.directed = true
		r.page.Prose += "\n"
		return r.direct(match[1], match[2])
	}
	if r.directed {
		return fmt.Errorf("the directive before is for no block: a block begins on the line after it")
	}
	if match := comment.FindStringSubmatch(line); match != nil {
		return fmt.Errorf("%q is no directive", match[1])
	}
	if match := heading.FindStringSubmatch(line); match != nil {
		r.page.Headings = append(r.page.Headings, match[1])
		if strings.HasPrefix(line, "## ") {
			r.section = match[1]
		}
	}
	if afterBlank && strings.HasPrefix(line, "    ") {
		r.page.Indented[number] = line[4:]
	}
	r.page.Prose += line + "\n"
	return nil
}

// inside reads a line within a block.
func (r *reader) inside(line string) {
	r.page.Prose += "\n"
	if end := strings.TrimSpace(line); strings.HasPrefix(end, r.open) && strings.Trim(end, r.open[:1]) == "" {
		r.page.Blocks = append(r.page.Blocks, r.block)
		r.block, r.open = Block{}, ""
		return
	}
	r.block.Text += strings.TrimPrefix(line, r.margin) + "\n"
}

// direct applies a directive to the next block.
func (r *reader) direct(kind, text string) error {
	switch kind {
	case "file":
		if text == "" || strings.ContainsAny(text, "\\ ") || strings.HasPrefix(text, "/") || strings.Contains(text, "..") {
			return fmt.Errorf("%q is no name of a file", text)
		}
		r.block.File = text
		return nil
	case "output of":
		r.block.Output = true
		return nil
	}
	return r.block.Run.set(text)
}

// set parses the text after "run:".
func (r *Run) set(text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	reason, elsewhere := strings.CutPrefix(text, "not here")
	switch {
	case text == "as written with the archives of make snapshot":
		r.Archives = true
	case elsewhere:
		if r.Elsewhere = strings.TrimLeft(reason, ": "); len(r.Elsewhere) < 10 {
			return fmt.Errorf("a block that is not run needs a reason")
		}
	case word == "exit":
		if r.Code, err = strconv.Atoi(rest); err != nil || r.Code < 1 || r.Code > 255 {
			return fmt.Errorf("%q is no exit code of a failure", rest)
		}
	case word == "until":
		r.Until, err = quoted(word, rest)
	case word == "view":
		if r.View = true; rest != "" {
			r.Frame, err = quoted(word, rest)
		}
	default:
		return fmt.Errorf("unknown directive %q", text)
	}
	return err
}

func quoted(word, rest string) (string, error) {
	text, err := strconv.Unquote(rest)
	if err != nil || text == "" {
		return "", fmt.Errorf("%s wants a text in quotes, not %q", word, rest)
	}
	return text, nil
}

// fits returns an error if the directives do not apply to the kind of block.
func (r *reader) fits() error {
	b := r.block
	switch {
	case b.Run != (Run{}) && !b.IsCommands():
		return fmt.Errorf("a block of %q is not run; sh and console are", b.Lang)
	case b.File != "" && b.IsCommands():
		return fmt.Errorf("a block of commands is no file")
	case b.isMisnamed():
		return fmt.Errorf("a block of %s cannot be run: make it sh or console", b.Lang)
	case b.Output && b.Lang != "":
		return fmt.Errorf("hack/explaindoc.sh writes blocks without an info string")
	}
	return nil
}

// Tour returns the pages that a new reader reads, in this order and in one namespace.
func Tour() []string {
	return []string{"README.md", "docs/explain.md", "docs/retry.md", "docs/run.md", "docs/tui.md"}
}

// IsRun reports whether a test runs the commands of the page at this path. Those in docs/reference.md are the examples
// in the commands' help, and explanation.md has no commands.
func IsRun(path string) bool {
	switch path {
	case "README.md", "CONTRIBUTING.md", "examples/README.md":
		return true
	case "docs/reference.md", "docs/explanation.md":
		return false
	}
	name, found := strings.CutPrefix(path, "docs/")
	name = strings.TrimPrefix(name, "internals/")
	return found && !strings.Contains(name, "/") && strings.HasSuffix(name, ".md")
}
