// Sabaki's own client of the Go Text Protocol talks to our engine; what happened is printed as one line of JSON.
// node sabaki_client.js PROGRAM ARGUMENT ...   with @sabaki/gtp on NODE_PATH
const {Controller, ControllerStateTracker} = require('@sabaki/gtp')

const play = (colour, vertex) => ({name: 'play', args: [colour, vertex]})

async function analyse(controller, command, lines) {
  // As Sabaki does: subscribe to the lines, and end the analysis by another command
  let infos = [], wanted
  let enough = new Promise(resolve => (wanted = resolve))
  let response = controller.sendCommand(command, ({line}) => {
    if (line.startsWith('info ')) infos.push(line)
    if (infos.length >= lines) wanted()
  })
  await enough
  let version = await controller.sendCommand({name: 'protocol_version'})
  let {error} = await response
  return {infos, error, version: version.content, busy: controller.busy}
}

async function main([path, ...args]) {
  let found = {}, sent = [], stderr = []
  let controller = new Controller(path, args)
  let tracker = new ControllerStateTracker(controller)
  let send = async (name, ...args) => await controller.sendCommand({name, args})
  controller.on('stderr', ({content}) => stderr.push(content))
  controller.start()
  controller.on('command-sent', ({command}) => sent.push([command.name, ...(command.args || [])].join(' ')))

  found.known = {}
  for (let name of ['analyze', 'lz-analyze', 'kata-analyze', 'genmove_analyze', 'undo', 'loadsgf', 'rectangular_boardsize'])
    found.known[name] = await tracker.knowsCommand(name)

  let history = [play('B', 'C3'), play('W', 'B2'), play('B', 'D2')]
  await tracker.sync({komi: 6.5, boardsize: [5, 5], history})
  found.first = (await send('move_history')).content

  sent.length = 0
  await tracker.sync({komi: 6.5, boardsize: [5, 5], history: [...history.slice(0, 2), play('B', 'pass')]})
  found.resync = [...sent]
  found.second = (await send('move_history')).content

  found.analyses = []
  for (let name of ['analyze', 'lz-analyze', 'kata-analyze'])
    found.analyses.push(await analyse(controller, {name, args: ['W', '5']}, 3))
  found.afterAnalyses = (await send('move_history')).content

  found.genmove = (await tracker.queueCommand({name: 'genmove', args: ['W']})).content
  found.genmoveAnalyze = (await tracker.queueCommand({name: 'genmove_analyze', args: ['B', '5']})).content
  found.tracked = tracker.state.history.map(command => command.args.join(' '))
  found.third = (await send('move_history')).content

  await tracker.sync({history: [{name: 'set_free_handicap', args: ['B2', 'D4']}, play('W', 'C3')]})
  found.handicap = (await send('list_stones', 'black')).content
  found.refused = await send('play', 'B', 'C3')
  try {
    await tracker.sync({boardsize: [5, 4]})
  } catch (err) {
    found.rectangle = err.message
  }
  let stopped = new Promise(resolve => controller.once('stopped', resolve))
  await controller.stop()
  found.exit = (await stopped).signal
  found.stderr = stderr
  console.log(JSON.stringify(found))
}

main(process.argv.slice(2)).catch(err => {
  console.error(err)
  process.exit(1)
})
