/**
 * What runs in a Python process. Each call is a fork: it goes on as the interpreter where it ends well, and ends the process
 * that waited; where it does not, the one that waited goes on as if the call had not been made.
 *
 * Arguments: the socket to speak on, the limits of memory and files in bytes. One JSON object a line, both ways.
 */
export const PYTHON_DRIVER: string = `
import ast, json, os, signal, socket, sys, traceback
import resource

def connect(path):
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(path)
    return channel.makefile('rwb')

def send(channel, message):
    channel.write(json.dumps(message).encode() + b'\\n')
    channel.flush()

def limit(kind, size):
    try:
        resource.setrlimit(kind, (size, size))
    except (ValueError, OSError):
        pass

def plain(value):
    try:
        text = json.dumps(value, allow_nan=False)
        return {'value': json.loads(text)} if len(text) <= 1000000 else {}
    except BaseException:
        return {}

def run(code, output, names):
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    sys.stdout = os.fdopen(1, 'w', closefd=False, errors='backslashreplace')
    sys.stderr = os.fdopen(2, 'w', closefd=False, errors='backslashreplace')
    reply = {}
    try:
        body = ast.parse(code, '<run>').body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), '<run>', 'exec'), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), '<run>', 'eval'), names)
            if value is not None:
                print(repr(value))
            reply = plain(value)
    except BaseException as error:
        try:
            told = ''.join(traceback.format_exception_only(type(error), error)).strip()
        except BaseException:
            told = 'Error: what was raised cannot be shown'
        reply = {'error': told[:100000]}
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException as error:
            reply.setdefault('error', str(error))
    return reply

def serve(path):
    channel = connect(path)
    names = {'__name__': '__main__', '__builtins__': __builtins__}
    send(channel, {'pid': os.getpid()})
    while True:
        line = channel.readline()
        if not line:
            os._exit(0)
        request = json.loads(line)
        waiting = os.getpid()
        if 'copy' in request:
            child = os.fork()
            if child != 0:
                os.waitpid(child, 0)
                continue
            # Whoever forks twice leaves nobody to wait for.
            if os.fork() != 0:
                os._exit(0)
            os.setsid()
            os.chdir(request['work'])
            os.environ['HOME'] = os.environ['TMPDIR'] = request['work']
            channel = connect(request['copy'])
            send(channel, {'pid': os.getpid()})
            continue
        child = os.fork()
        if child != 0:
            _, status = os.waitpid(child, 0)
            send(channel, {'died': status})
            continue
        os.setpgid(0, 0)
        send(channel, {'began': os.getpid()})
        own = os.getpid()
        reply = run(request['code'], request['output'], names)
        if os.getpid() != own:
            os._exit(0)
        if os.getppid() == waiting:
            os.kill(waiting, signal.SIGKILL)
        send(channel, {'done': reply})

limit(resource.RLIMIT_CORE, 0)
limit(resource.RLIMIT_FSIZE, int(sys.argv[3]))
limit(resource.RLIMIT_AS, int(sys.argv[2]))
serve(sys.argv[1])
`;
