package fidelity

func (g *generator) jobCall(label string) call {
	job := g.player.object(label).job
	if job == nil && !g.chance(5) || g.chance(2) {
		return g.createJob(label)
	}
	switch n := g.IntN(100); {
	case n < 62 && job != nil:
		return g.jobStatus(label, job)
	case n < 90 && job != nil:
		return g.editJob(label)
	}
	return call{"delete", label, []arg{{"propagation", g.one("Background", "Foreground", "Orphan")}}}
}

// createJob creates a Job that is valid most of the time.
func (g *generator) createJob(label string) call {
	c := call{"create", label, nil}
	add := func(percent int, key string, values ...string) {
		if g.chance(percent) {
			c.args = append(c.args, arg{key, g.one(values...)})
		}
	}
	switch {
	case g.chance(4):
		return g.createLargeJob(label)
	case g.chance(60):
		add(100, "mode", "Indexed")
		add(97, "completions", "3", "3", "2", "1", "0")
		add(70, "parallelism", "3", "3", "2", "1", "0")
		add(40, "perIndex", "1", "0")
		if c.has("perIndex", "1") {
			add(30, "maxFailed", "1", "0", "4")
		}
		add(25, "success", "count:2", "indexes:0-1", "count:1,indexes:0", "indexes:0,count:2")
	default:
		add(60, "completions", "3", "2", "1", "0")
		add(60, "parallelism", "3", "2", "1", "0")
	}
	add(20, "failurePolicy", "FailJob:42", "Ignore:condition", "Count:42,Ignore:condition", "FailJob:42:main", g.failurePolicy())
	add(15, "replacement", "Failed", "TerminatingOrFailed")
	add(30, "suspend", "true", "false")
	add(70, "managedBy", "example.com/x")
	add(10, "backoffLimit", "0", "3")
	add(8, "deadline", "0", "60")
	add(8, "ttl", "0", "60")
	add(10, "restart", "OnFailure", "Never")
	add(30, "finalizer", "example.com/a", "example.com/b")
	add(100, "label", "app:x")
	add(15, "annotation", "a:b")
	add(5, "templateLabel", "a:b")
	add(8, "init", "first", "second")
	add(4, "manualSelector", "matching", "matching", "other", "none")
	add(4, "selector", "empty", "name", "name", "app:x", "uid:x", "-x:a")
	if g.chance(5) {
		c.args = append(c.args, g.name("60", "61", "62", "63", "64", "70", "253", "254"))
	}
	for g.chance(12) {
		c.args = append(c.args, g.oddSpec())
	}
	return c
}

// createLargeJob creates an Indexed Job at the API's limits.
func (g *generator) createLargeJob(label string) call {
	c := call{"create", label, []arg{{"mode", "Indexed"}, {"label", "app:x"}}}
	c.args = append(c.args, arg{"completions", g.one("100000", "100001", "100001")})
	c.args = append(c.args, arg{"parallelism", g.one("10000", "10001", "100000", "100001")})
	if g.chance(70) {
		c.args = append(c.args, arg{"perIndex", "1"})
	}
	if g.chance(70) {
		c.args = append(c.args, arg{"maxFailed", g.one("10000", "10001", "100000", "100001")})
	}
	return c
}

// failurePolicy returns a policy of one or more random rules.
func (g *generator) failurePolicy() string {
	policy := g.failureRule()
	for g.chance(30) {
		policy += "," + g.failureRule()
	}
	return policy
}

func (g *generator) failureRule() string {
	action := g.one("FailJob", "FailJob", "Ignore", "Count", "Count", "FailIndex", "", "Other")
	if g.chance(30) {
		kind := g.one("", "", "example.com/x", "-x", "a/b/c")
		return action + ":condition:" + kind + ":" + g.one("", "True", "False", "Unknown", "Other") + ":" + g.one("1", "1", "2", "20", "21")
	}
	codes := g.one("42", "0", "1.2", "2.1", "1.1", "0.0", "1~255", "0~255", "-1", "3.1.2.3", "In")
	if operator := g.one("", "", "NotIn.", "NotIn.", "Other.", "."); g.chance(70) {
		codes = operator + codes
	}
	return action + ":" + codes + g.one("", "", ":main", ":first", ":other")
}

// oddSpec returns an argument that often makes a Job invalid.
func (g *generator) oddSpec() arg {
	all := []arg{
		{"completions", "-1"}, {"completions", "-"}, {"parallelism", "-1"}, {"backoffLimit", "-1"}, {"perIndex", "-1"}, {"perIndex", "1"},
		{"maxFailed", "-1"}, {"maxFailed", "4"}, {"maxFailed", "1"}, {"deadline", "-1"}, {"ttl", "-1"}, {"mode", "Other"}, {"managedBy", "none"},
		{"replacement", "Other"}, {"replacement", "TerminatingOrFailed"}, {"restart", "Always"}, {"restart", "OnFailure"}, {"restart", "Other"},
		{"success", "none"}, {"success", "count:4"}, {"success", "count:-1"}, {"success", "indexes:0-3"}, {"success", "indexes:1,count:9"},
		{"success", "indexes:x"}, {"failurePolicy", "FailIndex:42"}, {"failurePolicy", "Count:both"}, {"failurePolicy", "Count:neither"},
		{"failurePolicy", "Count:0"}, {"failurePolicy", "Count:42:other"}, {"failurePolicy", "Other:42"}, {"templateLabel", "job-name:x"},
		{"templateLabel", "controller-uid:x"}, {"mode", "NonIndexed"}, {"templateLabel", g.one("-x:a", "a:-")}, {"restart", ""},
		{"managedBy", g.one("", "example.com/x*51", "example.com/x*52", "-/x", "example.com/?")}, {"completions", g.one("11", "100001")},
		{"parallelism", g.one("10001", "100000", "100001")}, {"maxFailed", g.one("10001", "100000", "100001")},
		{"failurePolicy", g.failurePolicy()}, {"failurePolicy", g.failurePolicy()}, {"failurePolicy", g.failurePolicy()},
		{"failureRules", g.one("0", "20", "21")}, {"successRules", g.one("0", "20", "21")}, {"success", "indexes:0*65537"},
	}
	return all[g.IntN(len(all))]
}

func (g *generator) editJob(label string) call {
	c := call{"edit", label, nil}
	for len(c.args) == 0 || g.chance(25) {
		switch n := g.IntN(100); {
		case n < 15:
			c.args = append(c.args, arg{"parallelism", g.one("0", "1", "2", "3", "4")})
		case n < 25:
			size := g.one("0", "1", "2", "3", "4", "11")
			c.args = append(c.args, arg{"completions", size}, arg{"parallelism", size})
		case n < 30:
			c.args = append(c.args, arg{"completions", g.one("0", "1", "2", "3", "4")})
		case n < 50:
			c.args = append(c.args, arg{"suspend", g.one("true", "false")})
		case n < 57:
			c.args = append(c.args, arg{g.one("deadline", "ttl", "backoffLimit"), g.one("-", "0", "60", "-1")})
		case n < 75:
			c.args = append(c.args, g.editMetadata())
		case n < 82:
			c.args = append(c.args, arg{g.one("mode", "managedBy", "perIndex", "maxFailed", "success", "failurePolicy", "replacement", "restart"), g.one("Indexed", "example.com/y", "2", "1", "-", "Failed", "Never", "0")})
		case n < 88:
			c.args = append(c.args, arg{g.one("image", "cpu", "initCPU"), g.one("1", "2")})
		case n < 92:
			c.args = append(c.args, arg{"templateLabel", g.one("a:b", "job-name:x")})
		default:
			c.args = append(c.args, g.oddSpec())
		}
	}
	return c
}
