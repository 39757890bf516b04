"""One conversation with the gateway by a Python client, for `tests/clients/python.clients.ts`.

usage: gateway_clients.py ROW TALK, with a row's name and what is to be done as JSON (see tests/clients/row.ts).
Prints {"words": the last answer, "cities": what the tool was asked for}.

    python -m venv venv && venv/bin/pip install openai openai-agents anthropic langchain langchain-openai \
        langchain-anthropic langgraph litellm smolagents
    TURNWISE_PYTHON=venv/bin/python npm run test:clients
"""

import asyncio
import contextlib
import json
import os
import sys

BASE = os.environ["GATEWAY_BASE_URL"]
ANTHROPIC_BASE = os.environ["GATEWAY_ANTHROPIC_BASE_URL"]
KEY = os.environ["GATEWAY_KEY"]
REWRITTEN = "It was cold."
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "number"}},
    "required": ["city"],
}
ABOUT = {"name": "get_weather", "description": "Weather of a city"}
cities = []


def weather(city, days=1):
    cities.append(city)
    return json.dumps({"city": city, "degrees": 21})


def openai_chat(talk):
    from openai import OpenAI

    completions = OpenAI(base_url=BASE, api_key=KEY, max_retries=0).chat.completions
    messages = [{"role": "system", "content": talk["system"]}]
    words = ""
    for question in talk["questions"]:
        if talk["rewrite"] and words:
            messages[-1] = {"role": "assistant", "content": REWRITTEN}
        messages.append({"role": "user", "content": question})
        while True:
            body = {"model": "policy", "messages": messages}
            if talk["tools"]:
                body["tools"] = [{"type": "function", "function": {**ABOUT, "parameters": PARAMETERS}}]
            if talk["stream"]:
                with completions.stream(**body) as stream:
                    message = stream.get_final_completion().choices[0].message
            else:
                message = completions.create(**body).choices[0].message
            messages.append(message.to_dict())
            words = message.content or ""
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return words


def openai_responses(talk):
    from openai import OpenAI

    responses = OpenAI(base_url=BASE, api_key=KEY, max_retries=0).responses
    items, before, words = [], None, ""
    for question in talk["questions"]:
        if talk["rewrite"] and words:
            items[-1] = {"role": "assistant", "content": REWRITTEN}
        items.append({"role": "user", "content": question})
        while True:
            body = {"model": "policy", "instructions": talk["system"], "input": items}
            if talk["tools"]:
                body["tools"] = [{"type": "function", **ABOUT, "parameters": PARAMETERS, "strict": False}]
            if talk["previous"] and before:
                body["previous_response_id"] = before
            if talk["stream"]:
                with responses.stream(**body) as stream:
                    told = stream.get_final_response()
            else:
                told = responses.create(**body)
            before, words = told.id, told.output_text
            items = [] if talk["previous"] else [*items, *(item.to_dict() for item in told.output)]
            calls = [item for item in told.output if item.type == "function_call"]
            for call in calls:
                output = weather(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
            if not calls:
                break
    return words


def anthropic_messages(talk):
    from anthropic import Anthropic, beta_tool

    client = Anthropic(base_url=ANTHROPIC_BASE, api_key=KEY, max_retries=0)
    if talk["previous"]:

        @beta_tool(name="get_weather", description="Weather of a city", input_schema=PARAMETERS)
        def get_weather(city, days=1):
            return weather(city, days)

        runner = client.beta.messages.tool_runner(
            model="policy",
            max_tokens=256,
            system=talk["system"],
            tools=[get_weather],
            messages=[{"role": "user", "content": talk["questions"][0]}],
        )
        return "".join(block.text for block in runner.until_done().content if block.type == "text")
    messages, words = [], ""
    for question in talk["questions"]:
        if talk["rewrite"] and words:
            messages[-1] = {"role": "assistant", "content": REWRITTEN}
        messages.append({"role": "user", "content": question})
        while True:
            body = {"model": "policy", "max_tokens": 256, "system": talk["system"], "messages": messages}
            if talk["tools"]:
                body["tools"] = [{**ABOUT, "input_schema": PARAMETERS}]
            if talk["stream"]:
                with client.messages.stream(**body) as stream:
                    message = stream.get_final_message()
            else:
                message = client.messages.create(**body)
            messages.append({"role": "assistant", "content": message.content})
            words = "".join(block.text for block in message.content if block.type == "text")
            uses = [block for block in message.content if block.type == "tool_use"]
            if not uses:
                break
            results = [
                {"type": "tool_result", "tool_use_id": use.id, "content": weather(**use.input)} for use in uses
            ]
            messages.append({"role": "user", "content": results})
    return words


def openai_agents(talk):
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool
    from openai import AsyncOpenAI

    @function_tool(name_override="get_weather")
    def look(city: str, days: float | None = None) -> str:
        """Weather of a city"""
        return weather(city, days)

    client = AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0)
    config = RunConfig(model_provider=OpenAIProvider(openai_client=client), tracing_disabled=True)
    tools = [look] if talk["tools"] else []
    agent = Agent(name="weather", instructions=talk["system"], model="policy", tools=tools)

    async def run():
        history, before, words = [], None, ""
        for question in talk["questions"]:
            if talk["rewrite"] and words:
                history[-1] = {"role": "assistant", "content": REWRITTEN}
            given = [*([] if talk["previous"] else history), {"role": "user", "content": question}]
            more = {"previous_response_id": before} if talk["previous"] and before else {}
            if talk["stream"]:
                result = Runner.run_streamed(agent, given, run_config=config, **more)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(agent, given, run_config=config, **more)
            history, before, words = result.to_input_list(), result.last_response_id, result.final_output
        return words

    return asyncio.run(run())


def langgraph(model, talk):
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    @tool("get_weather")
    def look(city: str, days: float | None = None) -> str:
        """Weather of a city"""
        return weather(city, days)

    agent = create_agent(model, [look] if talk["tools"] else [], system_prompt=talk["system"])
    messages, words = [], ""
    for question in talk["questions"]:
        if talk["rewrite"] and words:
            messages[-1] = AIMessage(REWRITTEN)
        state = {"messages": [*messages, {"role": "user", "content": question}]}
        if talk["stream"]:
            for mode, part in agent.stream(state, stream_mode=["values", "messages"]):
                messages = part["messages"] if mode == "values" else messages
        else:
            messages = agent.invoke(state)["messages"]
        words = messages[-1].text
    return str(words)


def langgraph_openai(talk, responses=False):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="policy", base_url=BASE, api_key=KEY, max_retries=0, use_responses_api=responses)
    return langgraph(model, talk)


def langgraph_anthropic(talk):
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="policy", base_url=ANTHROPIC_BASE, api_key=KEY, max_retries=0)
    return langgraph(model, talk)


def litellm(prefix, base, talk):
    import litellm as library

    messages, words = [{"role": "system", "content": talk["system"]}], ""
    for question in talk["questions"]:
        if talk["rewrite"] and words:
            messages[-1] = {"role": "assistant", "content": REWRITTEN}
        messages.append({"role": "user", "content": question})
        while True:
            body = {"model": f"{prefix}/policy", "api_base": base, "api_key": KEY, "num_retries": 0}
            if talk["tools"]:
                body["tools"] = [{"type": "function", "function": {**ABOUT, "parameters": PARAMETERS}}]
            told = library.completion(messages=messages, stream=talk["stream"], **body)
            if talk["stream"]:
                told = library.stream_chunk_builder(list(told), messages=messages)
            message = told.choices[0].message
            messages.append(message.model_dump())
            words = message.content or ""
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return words


def smolagents(talk):
    from smolagents import OpenAIModel, Tool, ToolCallingAgent

    class Weather(Tool):
        name, description, output_type = ABOUT["name"], ABOUT["description"], "string"
        inputs = {
            "city": {"type": "string", "description": "Its name"},
            "days": {"type": "number", "description": "How many", "nullable": True},
        }

        def forward(self, city: str, days: float | None = None) -> str:
            return weather(city, days)

    model = OpenAIModel(model_id="policy", api_base=BASE, api_key=KEY, client_kwargs={"max_retries": 0})
    agent = ToolCallingAgent(
        tools=[Weather()] if talk["tools"] else [],
        model=model,
        instructions=talk["system"],
        stream_outputs=talk["stream"],
        max_steps=4,
        verbosity_level=0,
    )
    words = ""
    # What it streams is shown as well.
    with contextlib.redirect_stdout(sys.stderr):
        for index, question in enumerate(talk["questions"]):
            words = agent.run(question, reset=index == 0)
    return str(words)


ROWS = {
    "openai, chat completions": openai_chat,
    "openai, responses": openai_responses,
    "openai-agents": openai_agents,
    "anthropic": anthropic_messages,
    "LangGraph, ChatOpenAI": langgraph_openai,
    "LangGraph, ChatOpenAI, responses": lambda talk: langgraph_openai(talk, responses=True),
    "LangGraph, ChatAnthropic": langgraph_anthropic,
    "smolagents": smolagents,
    "LiteLLM, openai": lambda talk: litellm("openai", BASE, talk),
    "LiteLLM, anthropic": lambda talk: litellm("anthropic", ANTHROPIC_BASE, talk),
}

if __name__ == "__main__":
    answer = ROWS[sys.argv[1]](json.loads(sys.argv[2]))
    print(json.dumps({"words": answer, "cities": cities}))
