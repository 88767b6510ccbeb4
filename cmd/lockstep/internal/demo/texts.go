package demo

// about is the Markdown text of the demo's first page. guide is the Markdown text beside a conversation.
const (
	about = "A small company in one process: its GitHub, its pull requests, and Lockstep. Nothing leaves this machine, and everything that you do here happens for real.\n\n" +
		"Begin with *A cluster of 40 machines*: its apply is under way. Stop it, or kill its process, and see what is lost: nothing."

	guide = "## To try\n\n" +
		"- **#2**: read the plan and comment `lockstep apply`. Try the same as mallory, who may only read. Push a prepared change, and Lockstep plans again.\n" +
		"- **#3**: apply it, then look at #2. Its plan could undo the changes of #3, so it waits until #3 is merged.\n" +
		"- **#4**: merge it. Merging applies it.\n" +
		"- **#5**: 24 services behind one module. Equal plans are shown once.\n" +
		"- **#6** needs an approval by acme/dba: approve it as bob, then apply it.\n" +
		"- **#7**: a policy denies the destroy. Carol can override: `lockstep override --reason \"...\"`.\n" +
		"- **#8**: the plan failed. The comment shows where.\n" +
		"- **#9**: an apply under way. Under *Checks*, press *Stop*; or kill its process below, and watch another process go on.\n\n" +
		"`lockstep help` lists all commands.\n"
)
