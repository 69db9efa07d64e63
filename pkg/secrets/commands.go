package secrets

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// program is a program whose arguments have secrets under names that do not say so, such as -p.
type program struct {
	names string // the names of the program, separated by spaces
	// after, if set, is a word before the flags, such as the verb "login".
	after string
	// flags have a secret as their value. "-u:" has it after the first colon of its value, and so has "-U%" after a percent
	// sign. The value of "-p" follows as the next word or directly, and that of "-p*" only directly.
	flags string
	// names of variables that these verbs set may be names of secrets: the secret is the next word.
	sets string
}

var programs = []program{
	{names: "curl", flags: "-u: --user: -U: --proxy-user:"},
	{names: "http https xh", flags: "-a: --auth:"},
	{names: "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlpump mysqlbinlog mysqlslap mysqlsh mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check", flags: "-p*"},
	{names: "sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat cqlsh hdbsql rabbitmqadmin", flags: "-p"},
	{names: "redis-cli valkey-cli", flags: "-a"},
	{names: "docker podman nerdctl buildah helm oras crane az", after: "login", flags: "-p"},
	{names: "skopeo", flags: "--creds: --src-creds: --dest-creds:"},
	{names: "twine", flags: "-p"},
	{names: "openssl", flags: "-k -K -pass: -passin: -passout:"},
	{names: "zip unzip zipcloak sqlcmd bcp", flags: "-P"},
	{names: "7z 7za 7zr rar unrar", flags: "-p* -hp*"},
	{names: "ldapsearch ldapadd ldapmodify ldapdelete ldapcompare ldapwhoami ldappasswd", flags: "-w"},
	{names: "smbclient rpcclient smbget", flags: "-U%"},
	{names: "lftp", flags: "-u,"},
	{names: "etcdctl", flags: "--user:"},
	{names: "kubectl oc", flags: "--from-literal="},
	{names: "sqlplus expdp impdp sqlldr", flags: "/"},
	{names: "aws npm yarn pnpm setx", sets: "set setx"},
}

// commandHints are the hints for programs.
const commandHints = "curl http xh mysql mariadb sshpass mongo cqlsh hdbsql rabbitmqadmin redis-cli valkey-cli login skopeo twine openssl zip 7z rar sqlcmd bcp ldap smb rpcclient lftp etcdctl from-literal sqlplus expdp impdp sqlldr aws npm yarn setx"

// commandName matches the name of a program in a text.
var commandName = lazyregexp.New(`\b(?:` + strings.ReplaceAll(programNames(), " ", "|") + `)\b`)

func programNames() string {
	all := make([]string, len(programs))
	for i, p := range programs {
		all[i] = p.names
	}
	names := strings.Fields(strings.Join(all, " "))
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // The longest name matches first.
	return strings.Join(names, " ")
}

// Command is a command of which some words were read.
type Command struct {
	program *program
	ready   bool // the word that the program needs was read
	flag    string
	setting bool // the next word is the value of a variable that is a secret
}

// Next returns the range of the secret in the next word of a command, without quotes, or an empty range.
func (c *Command) Next(word string) (from, to int) {
	if p := programOf(word); p != nil {
		*c = Command{program: p, ready: p.after == "", setting: false}
		if p.sets != "" {
			c.ready = slices.Contains(strings.Fields(p.sets), word)
		}
		return 0, 0
	}
	switch {
	case c.program == nil:
	case c.program.sets != "":
		isValue := c.setting
		c.setting = c.ready && Named.MatchString(word)
		c.ready = c.ready || slices.Contains(strings.Fields(c.program.sets), word)
		if isValue {
			return 0, len(word)
		}
	case !c.ready:
		c.ready = word == c.program.after
	case c.flag != "":
		flag := c.flag
		c.flag = ""
		return secretOf(flag, word, 0)
	default:
		return c.flagged(word)
	}
	return 0, 0
}

// flagged returns the position of the secret in a word that may be a flag.
func (c *Command) flagged(word string) (from, to int) {
	for flag := range strings.FieldsSeq(c.program.flags) {
		name := strings.TrimRight(flag, ":%,*=")
		rest, ok := strings.CutPrefix(word, name)
		switch {
		case flag == "/":
			if strings.Contains(word, "@") && !strings.HasPrefix(word, "-") {
				return secretOf(flag, word, 0)
			}
		case !ok:
		case rest == "" && !strings.HasSuffix(flag, "*"):
			c.flag = flag
			return 0, 0
		case rest == "":
		case strings.HasPrefix(rest, "="):
			return secretOf(flag, word, len(name)+1)
		case len(name) == len("-p") || strings.HasSuffix(flag, "*"):
			return secretOf(flag, word, len(name))
		}
	}
	return 0, 0
}

// secretOf returns the position of the secret in the value of a flag, which starts at an offset in the word.
func secretOf(flag, word string, offset int) (from, to int) {
	to = len(word)
	if separator := flag[len(flag)-1]; strings.IndexByte(":%,=/", separator) >= 0 {
		i := strings.IndexByte(word[offset:], separator)
		if i < 0 {
			return 0, 0
		}
		offset += i + 1
		if at := strings.LastIndex(word, "@"); separator == '/' && at > offset {
			to = at
		}
	}
	for offset < to && strings.IndexByte("\"'", word[offset]) >= 0 {
		offset++
	}
	return offset, to
}

// programOf returns the program that a word names, with or without a path; nil if it is another one.
func programOf(word string) *program {
	name := word[strings.LastIndexByte(word, '/')+1:]
	for i := range programs {
		if slices.Contains(strings.Fields(programs[i].names), name) {
			return &programs[i]
		}
	}
	return nil
}

// inCommands returns the positions of secrets in the commands of a text; lower is the text in lower case.
func inCommands(text, lower string) (found []Span) {
	hinted := secret{hints: commandHints}
	for _, window := range hinted.windows(text, lower) {
		quotes, at := quoting{}, window.From
		for at < window.To {
			m := commandName.FindStringIndex(text[at:window.To])
			if m == nil {
				break
			}
			begin := at + m[0]
			quotes, at = quotes.after(text[at:begin], byteBefore(text, at)), begin
			if byteBefore(text, begin) == '\'' { // the first of a list of strings, as Python prints it
				quotes.single, quotes.singleLevel = true, quotes.level
			}
			var c Command
			end := quotes.words(text, begin, func(from, to int) {
				if f, t := c.Next(text[from:to]); f < t && !IsHarmless("", text[from+f:from+t], "") {
					found = append(found, Span{From: from + f, To: from + t, What: OfCommand})
				}
			})
			end = max(end, at+m[1]-m[0])
			quotes, at = quotes.after(text[at:end], byteBefore(text, at)), end
		}
	}
	return found
}

// words calls each with the positions of the words of a command that begins at i, and returns where the command ends: at a
// character of the shell, or at the end of its string or line. A list of strings, as in JSON, is a command as well.
func (q quoting) words(text string, i int, each func(from, to int)) (end int) {
	for {
		c, next := q.read(text, i)
		switch {
		case c == 0:
			m := following.FindStringSubmatchIndex(text[i:min(len(text), i+lookBack)])
			if m == nil {
				return i
			}
			from, to, after := q.after(text[i:i+m[3]], 0).segment(text, i+m[4])
			if each(from, to); after == to { // a string without an end
				return to
			}
			i = to
			continue
		case c == ' ', c == '\t', c == '\r':
			i = next
			continue
		case c == '\n', strings.IndexByte("|;&<>()", c) >= 0:
			return i
		case c == '\\':
			if newline, after := q.read(text, next); newline == '\n' {
				i = after
				continue
			}
		}
		from, to, after := q.word(text, i, endsWord)
		each(from, to)
		if after == i { // a quote without an end
			after = next
		}
		i = after
	}
}

// endsWord reports whether the character c ends a word of a shell.
func endsWord(_ string, _ int, c byte, _ bool) bool {
	return strings.IndexByte(" \t\r\n|;&<>()\x1b", c) >= 0
}

// following matches the end of a string in a list, and its groups what is up to the next string.
var following = lazyregexp.New(`^(\\{0,63}["'][ \t]*,[ \t]*)(\\{0,63}["'])`)
